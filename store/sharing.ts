/**
 * Makes the state that all serving processes on one database share: limits, used one-time tokens, and request counts
 * per IP address.
 */
import type { UsedTokens } from '../domain/access/ephemeral.ts'
import type { Clock, Log } from '../domain/ports/system.ts'
import type { SharedCounts } from '../runtime/engine/options.ts'
import type { Loop } from '../runtime/timing/loops.ts'
import type { Sql } from './postgres/connect.ts'
import { createAddressCounts } from './redis/address-counts.ts'
import { openRedis, type Redis } from './redis/connection.ts'
import { createRedisInstance } from './redis/instances.ts'
import { createRedisLeases } from './redis/leases.ts'
import { createRedisUsedTokens } from './redis/used-tokens.ts'
import { createInstance, type Instance } from './sharing/instances.ts'
import { createSqlLeases } from './sharing/lease-rows.ts'
import { refreshMs, SharedLimits } from './sharing/limits.ts'

export type SharingOptions = {
  clock: Clock
  log: Log
  /**
   * The URL for Redis or Valkey. All processes on one database must use the same server. Null: the processes share
   * through Postgres.
   */
  redisUrl: string | null
  /** True if this process serves. A command does not serve, so it shares nothing. */
  serves: boolean
  leaseMs: number
}

export type Sharing = {
  limits: SharedLimits
  /** Remembers in Redis which one-time access tokens were used. Null: the database remembers this. */
  usedTokens: UsedTokens | null
  /**
   * Counts requests by IP address for all instances. Null: each instance allows its part of the quota for each IP
   * address.
   */
  addressCounts: SharedCounts | null
  loops: readonly Loop[]
  /** Registers this instance. Resolves when it may serve. */
  join(): Promise<void>
  leave(): Promise<void>
  close(): void
}

export async function openSharing(system: Sql, instanceId: string, options: SharingOptions): Promise<Sharing> {
  const { clock, log, leaseMs, redisUrl, serves } = options
  const row = createInstance(system, clock, instanceId, leaseMs)
  const everyMs = Math.min(refreshMs, leaseMs / 4)
  if (redisUrl === null || !serves) {
    const leases = createSqlLeases(system, clock, instanceId)
    const limits = new SharedLimits({ clock, log, instance: row, leases })
    return {
      limits,
      usedTokens: null,
      addressCounts: null,
      loops: loopsOf(limits, everyMs, leaseMs),
      join: () => limits.join(),
      leave: () => limits.leave(),
      close: () => {},
    }
  }
  return overRedis(await openRedis(redisUrl, log), row, instanceId, { ...options, everyMs })
}

/**
 * Shares limits through Redis. The instance's row stays in the database, because credit reservations and calls refer to
 * it.
 */
function overRedis(
  redis: Redis,
  row: Instance,
  instanceId: string,
  { clock, log, leaseMs, everyMs }: SharingOptions & { everyMs: number },
): Sharing {
  const instance = createRedisInstance(redis, clock, instanceId, leaseMs)
  const leases = createRedisLeases(redis, clock, instanceId)
  const limits = new SharedLimits({ clock, log, instance, leases })
  return {
    limits,
    usedTokens: createRedisUsedTokens(redis, clock),
    addressCounts: createAddressCounts(redis),
    loops: [
      ...loopsOf(limits, everyMs, leaseMs),
      { name: 'row of this instance', everyMs, run: () => row.beat(false) },
    ],
    join: async () => {
      await row.join()
      await limits.join()
    },
    leave: async () => {
      await limits.leave().catch((err: unknown) => log.warn({ err }, 'Redis was not told that this process ends'))
      await row.leave()
    },
    close: () => redis.close(),
  }
}

function loopsOf(limits: SharedLimits, everyMs: number, leaseMs: number): Loop[] {
  return [
    { name: 'instances', everyMs, run: () => limits.refresh() },
    { name: 'leases of dead instances', everyMs: leaseMs, run: () => limits.sweep() },
  ]
}
