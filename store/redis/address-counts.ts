/**
 * Counts each IP address's requests to all instances, in a time window of the edge quota (the limit on requests per IP
 * address).
 */
import type { SharedCounts } from '../../runtime/engine/options.ts'
import { type Redis, script } from './connection.ts'

/** The maximum number of IP addresses in one command. */
const addressesMax = 1_000

/**
 * Adds counts and returns the sums. A window is one hash, which is removed one window after its end. ARGV: the hash's
 * life in ms, then alternating IP addresses and counts.
 */
const add = script(`
local sums = {}
for i = 2, #ARGV, 2 do sums[#sums + 1] = redis.call('HINCRBY', KEYS[1], ARGV[i], ARGV[i + 1]) end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return sums`)

export function createAddressCounts(redis: Redis): SharedCounts {
  return {
    async add(window, windowMs, counts) {
      const sums = new Map<string, number>()
      const all = [...counts]
      for (let from = 0; from < all.length; from += addressesMax) {
        const part = all.slice(from, from + addressesMax)
        const answer = (await redis.run(
          add,
          [`addresses:${windowMs}:${window}`],
          [2 * windowMs, ...part.flat()],
        )) as number[]
        for (const [at, [address]] of part.entries()) sums.set(address, answer[at] ?? 0)
      }
      return sums
    },
  }
}
