/**
 * Shared leases in Redis, like the rows in store/sharing/lease-rows.ts.
 *
 *   leases:<organization>   a hash: "<instance> <key>" = "<held> <sessions>"
 *   leases-of:<instance>    the organizations with fields for this instance, so that the fields can be removed
 */
import type { LeaseRefusal } from '../../domain/access/limits.ts'
import type { Clock } from '../../domain/ports/system.ts'
import type { LeaseStatements } from '../sharing/lease-rows.ts'
import { keyPrefix, type Redis, script } from './connection.ts'

/** Lua functions for scripts. If an instance holds no lease for a key, `set_lease` removes its field. */
export const forgetLeases = `
local function set_lease(instance, organization, key, held, sessions)
  local name = '${keyPrefix}leases:' .. organization
  if held <= 0 then redis.call('HDEL', name, instance .. ' ' .. key) return end
  redis.call('HSET', name, instance .. ' ' .. key, held .. ' ' .. math.max(sessions, 0))
  redis.call('SADD', '${keyPrefix}leases-of:' .. instance, organization)
end
local function forget_leases(instance)
  local index = '${keyPrefix}leases-of:' .. instance
  for _, organization in ipairs(redis.call('SMEMBERS', index)) do
    local name = '${keyPrefix}leases:' .. organization
    for _, field in ipairs(redis.call('HKEYS', name)) do
      if field:match('^%S+') == instance then redis.call('HDEL', name, field) end
    end
  end
  redis.call('DEL', index)
end
local function counts(value)
  if not value then return 0, 0 end
  local held, sessions = value:match('^(%d+) (%d+)$')
  return tonumber(held), tonumber(sessions)
end
`

/**
 * Grants or refuses a lease. ARGV: instance, now, organization, key, the two limits (-1: no limit), and 1 for a
 * session.
 */
const acquire = script(`${forgetLeases}
local alive = { [ARGV[1]] = true }
local all = redis.call('HGETALL', KEYS[1])
for i = 1, #all, 2 do
  if tonumber(all[i + 1]:match('^%d+')) > tonumber(ARGV[2]) then alive[all[i]] = true end
end
local requests, of_key = 0, 0
local leases = redis.call('HGETALL', KEYS[2])
for i = 1, #leases, 2 do
  local instance, key = leases[i]:match('^(%S+) (%S+)$')
  if alive[instance] then
    local held, sessions = counts(leases[i + 1])
    requests = requests + held - sessions
    if key == ARGV[4] then of_key = of_key + held end
  end
end
local organization_max, key_max, is_session = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
if is_session == 0 and organization_max >= 0 and requests >= organization_max then return 'organization' end
if key_max >= 0 and of_key >= key_max then return 'key' end
local held, sessions = counts(redis.call('HGET', KEYS[2], ARGV[1] .. ' ' .. ARGV[4]))
set_lease(ARGV[1], ARGV[3], ARGV[4], held + 1, sessions + is_session)
return ''`)

/**
 * Ends leases. ARGV: instance; then repeatedly organization, key, the number of ended leases, and the sessions among
 * them.
 */
const end = script(`${forgetLeases}
for i = 2, #ARGV, 4 do
  local organization, key = ARGV[i], ARGV[i + 1]
  local held, sessions = counts(redis.call('HGET', '${keyPrefix}leases:' .. organization, ARGV[1] .. ' ' .. key))
  set_lease(ARGV[1], organization, key, held - tonumber(ARGV[i + 2]), sessions - tonumber(ARGV[i + 3]))
end`)

/**
 * The maximum number of entries for ended leases in one command. There are rarely more, because ended leases are added
 * up by key.
 */
const endsMax = 1_000

const limitOf = (max: number | null) => max ?? -1

export function createRedisLeases(redis: Redis, clock: Clock, instanceId: string): LeaseStatements {
  const leases = (organizationId: string) => `leases:${organizationId}`
  return {
    // The lease requests are sent together, because the client collects all commands from one event-loop turn.
    acquireAll: (asks) =>
      Promise.all(
        asks.map(async ({ organizationId, keyId, organizationMax, keyMax, isSession }) => {
          const limits = [limitOf(organizationMax), limitOf(keyMax), Number(isSession)]
          const values = [instanceId, Math.floor(clock.nowMs()), organizationId, keyId, ...limits]
          const refusal = await redis.run(acquire, ['instances', leases(organizationId)], values)
          return refusal === '' ? null : (refusal as LeaseRefusal)
        }),
      ),
    endAll: async (ends) => {
      const fields = ends.map(({ organizationId, keyId, count, sessions }) => [organizationId, keyId, count, sessions])
      for (let from = 0; from < fields.length; from += endsMax)
        await redis.run(end, ['instances'], [instanceId, ...fields.slice(from, from + endsMax).flat()])
    },
    // Nothing to do: a heartbeat removes dead instances together with their leases.
    sweep: () => Promise.resolve(),
  }
}
