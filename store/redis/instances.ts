/**
 * The serving processes in Redis, like the rows in store/sharing/instances.ts. One hash has a field for each process:
 * the time when it counts as dead without another heartbeat, and if it counts its leases in memory. A script is atomic,
 * so no lock is needed.
 */
import type { KeyLeases } from '../../domain/access/local-limits.ts'
import type { Clock } from '../../domain/ports/system.ts'
import type { Instance } from '../sharing/instances.ts'
import { keyPrefix, type Redis, script } from './connection.ts'
import { forgetLeases } from './leases.ts'

const channel = 'instances'
const instances = 'instances'

/** Lua functions: `each_other(found)` calls `found` with every other instance's id and fields. ARGV: id, now. */
const others = `
local function each_other(found)
  local all = redis.call('HGETALL', KEYS[1])
  for i = 1, #all, 2 do
    if all[i] ~= ARGV[1] then
      local alive_until, in_memory = all[i + 1]:match('^(%d+) (%d)$')
      found(all[i], tonumber(alive_until) > tonumber(ARGV[2]), in_memory == '1')
    end
  end
end
local function count_alive()
  local alive = 0
  each_other(function(_, is_alive) if is_alive then alive = alive + 1 end end)
  return alive
end
`
const notify = `redis.call('PUBLISH', '${keyPrefix}${channel}', '')\n`

const join = script(`${others}
local alone = count_alive() == 0 and 1 or 0
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3] .. ' ' .. alone)
${notify} return alone`)

/** Renews this instance's field and removes dead instances. ARGV: id, now, alive until, counts in memory. */
const beat = script(`${others}${forgetLeases}
local alive, gone = 0, 0
each_other(function(id, is_alive)
  if is_alive then alive = alive + 1 return end
  redis.call('HDEL', KEYS[1], id)
  forget_leases(id)
  gone = gone + 1
end)
local own = redis.call('HGET', KEYS[1], ARGV[1])
local in_memory = own and own:match('%d$') or ARGV[4]
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3] .. ' ' .. in_memory)
return { alive, gone, (own and in_memory == ARGV[4]) and 1 or 0 }`)

const othersInMemory = script(`${others}
local count = 0
each_other(function(_, is_alive, in_memory) if is_alive and in_memory then count = count + 1 end end)
return count`)

const countInMemory = script(`${others}${forgetLeases}
if count_alive() > 0 then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3] .. ' 1')
forget_leases(ARGV[1])
${notify} return 1`)

/**
 * Replaces this instance's leases. ARGV: id, now, alive until; then for each key with leases: organization, key, held,
 * sessions.
 */
const countInRows = script(`${forgetLeases}
forget_leases(ARGV[1])
for i = 4, #ARGV, 4 do set_lease(ARGV[1], ARGV[i], ARGV[i + 1], tonumber(ARGV[i + 2]), tonumber(ARGV[i + 3])) end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3] .. ' 0')
${notify}`)

const leave = script(`${forgetLeases}
redis.call('HDEL', KEYS[1], ARGV[1])
forget_leases(ARGV[1])
${notify}`)

export function createRedisInstance(redis: Redis, clock: Clock, id: string, leaseMs: number): Instance {
  const times = () => [clock.nowMs(), clock.nowMs() + leaseMs].map(Math.floor)
  const run = (step: ReturnType<typeof script>, more: readonly (string | number)[] = []) =>
    redis.run(step, [instances], [id, ...times(), ...more])
  return {
    join: async () => (await run(join)) === 1,
    async beat(countsInMemory) {
      const [alive = 0, gone = 0, isIntact = 0] = (await run(beat, [Number(countsInMemory)])) as number[]
      return { others: alive, isIntact: isIntact === 1, hasRemoved: gone > 0 }
    },
    /**
     * Counts other instances with leases in memory. A killed instance counts until its lease has run out, because Redis
     * does not know if it is connected.
     */
    othersInMemory: async () => Number(await run(othersInMemory)),
    countInMemory: async () => (await run(countInMemory)) === 1,
    async countInRows(leases: readonly KeyLeases[]) {
      const fields = leases.map(({ organizationId, keyId, ...counts }) => [
        organizationId,
        keyId,
        counts.held,
        counts.sessions,
      ])
      await run(countInRows, fields.flat())
    },
    listen: (changed) => redis.listen(channel, changed),
    async leave() {
      await run(leave)
    },
  }
}
