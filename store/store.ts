/** Opens the database, embedded or given, and hands out the ports over it. */
import { nanoid } from 'nanoid'
import type { LiveKeys, UsedTokens } from '../domain/access/ephemeral.ts'
import type { Limits } from '../domain/access/limits.ts'
import type { Keys } from '../domain/access/organization.ts'
import type { Credit } from '../domain/billing/ledger.ts'
import type { Idempotency } from '../domain/idempotency/idempotency.ts'
import type { Clock, Log } from '../domain/ports/system.ts'
import type { RequestRoutes } from '../domain/routing/request-route.ts'
import { createKeyAdministration, type KeyAdministration } from './api-keys.ts'
import { createChoices } from './choices.ts'
import { checkServer, connect, connectOnce, type Pools, type Target } from './connect.ts'
import { createCredit } from './credit.ts'
import { database, role } from './embedded/cluster.ts'
import { type EmbeddedPostgres, startEmbedded } from './embedded/supervisor.ts'
import { createIdempotency, type IdempotencyLimits } from './idempotency.ts'
import { createInstance } from './instance.ts'
import { createKeys, createLiveKeys, type KeyCacheLimits } from './keys.ts'
import { createLeases } from './leases.ts'
import { createLedger, type StoredLedger } from './ledger.ts'
import { migrate } from './migrations/migrate.ts'
import { createOrganizations, type Organizations } from './organizations.ts'
import { createProviderKeys, type StoredProviderKeys } from './provider-keys.ts'
import { createRequestRoutes } from './request-routes.ts'
import { createSealer, type MasterKeys } from './sealed.ts'
import { type Job, startUpkeep } from './upkeep.ts'
import { createUsedTokens } from './used-tokens.ts'

export type StoreOptions = KeyCacheLimits & {
  /** Null: a Postgres of our own in the data folder. */
  databaseUrl: string | null
  dataDir: string
  /** For whoever waits at a terminal. */
  progress: (message: string) => void
  log: Log
  clock: Clock
  /** For single-organization work; batches have two connections and LISTEN one beside these. */
  connectionsMax: number
  idempotency: IdempotencyLimits
  /** What secrets are sealed with; asked for when the first one is. */
  masterKeys: () => MasterKeys
  /** How long the choice behind a request is kept. */
  choicesKeptMs: number
}

export type Store = {
  keys: Keys & LiveKeys & KeyAdministration
  organizations: Organizations
  providerKeys: StoredProviderKeys
  requestRoutes: RequestRoutes
  idempotency: Idempotency
  ledger: StoredLedger
  credit: Credit
  /** Across processes. One process alone counts in memory: domain/access/local-limits.ts. */
  leases: Limits
  usedTokens: UsedTokens
  /** Rejects when the database does not answer. */
  ping(): Promise<void>
  /**
   * Writes what waits and closes. `stopPostgres` also ends the embedded server, adopted or not, unless another process still uses it: the last one
   * out turns off the light.
   */
  close(options: { stopPostgres: boolean }): Promise<void>
}

const closeMs = 5_000
const reapEveryMs = 60_000

export async function openStore(options: StoreOptions): Promise<Store> {
  const embedded = options.databaseUrl === null ? await startEmbedded(options) : null
  const target: Target = embedded
    ? { socketDir: embedded.socketDir, role, database }
    : { databaseUrl: options.databaseUrl ?? '' }
  const instanceId = nanoid()
  const name = `parley-${instanceId}`
  let pools: Pools | null = null
  try {
    pools = connect(target, name, options.connectionsMax)
    await checkServer(pools.system, options.log)
    await migrate(pools.tenant, options.progress)
    return await assemble(pools, instanceId, options, (stopPostgres) => leave(target, name, embedded, stopPostgres))
  } catch (error) {
    if (pools) await end(pools)
    // What this start has started must not outlive it.
    await leave(target, name, embedded, embedded?.adopted === false)
    throw error
  }
}

async function assemble(
  pools: Pools,
  instanceId: string,
  options: StoreOptions,
  leaveServer: (stopPostgres: boolean) => Promise<void>,
): Promise<Store> {
  const { system, tenant } = pools
  const { clock, log } = options
  const { leaseMs } = options.idempotency
  const instance = createInstance(system, clock, instanceId, leaseMs)
  const keys = createKeys(system, clock, log, options)
  const idempotency = createIdempotency(system, clock, options.idempotency)
  const choices = createChoices(system, clock, options.choicesKeptMs)
  const ledger = createLedger(system, clock, log, choices)
  const credit = createCredit(system, clock, instanceId)
  const leases = createLeases(system, clock, log, instanceId)
  const usedTokens = createUsedTokens(pools, clock)
  const providerKeys = createProviderKeys(pools, {
    ...options,
    sealer: () => createSealer(options.masterKeys()),
    forget: (organizationId) => keys.forget(organizationId),
  })

  // Before the first reservation: what belongs to an instance without a row is given back.
  await Promise.all([instance.beat(), keys.listen()])
  await credit.sweep()
  const heartbeatMs = leaseMs / 4
  const jobs: Job[] = [
    { name: 'heartbeat', everyMs: heartbeatMs, run: () => instance.beat() },
    { name: 'renew leases', everyMs: heartbeatMs, run: () => idempotency.renew() },
    { name: 'return reservations', everyMs: leaseMs, run: () => credit.sweep() },
    { name: 'concurrency', everyMs: leaseMs, run: () => leases.sweep() },
    { name: 'expired keys', everyMs: reapEveryMs, run: () => idempotency.reap() },
    { name: 'used tokens', everyMs: reapEveryMs, run: () => usedTokens.sweep() },
    { name: 'old choices', everyMs: reapEveryMs, run: () => choices.reap() },
    { name: 'provider keys', everyMs: reapEveryMs, run: () => tendProviderKeys(providerKeys, log) },
    { name: 'last use', everyMs: reapEveryMs, run: () => keys.noteUse() },
  ]
  const endUpkeep = startUpkeep(jobs, clock, log)

  async function flush(): Promise<void> {
    await Promise.all([idempotency.drain(), ledger.drain(), credit.drain(), leases.drain(), keys.noteUse()])
    await instance.leave()
  }

  return {
    keys: {
      ...createKeyAdministration(tenant, clock),
      ...createLiveKeys(tenant, clock, log),
      verify: (secret) => keys.verify(secret),
    },
    organizations: createOrganizations(tenant, clock),
    providerKeys,
    requestRoutes: createRequestRoutes(tenant),
    idempotency,
    ledger,
    credit,
    leases,
    usedTokens,
    async ping() {
      await system`select 1`
    },
    async close({ stopPostgres }) {
      await endUpkeep()
      await within(clock, closeMs, flush()).catch((err: unknown) => {
        log.error({ err }, 'the store closed before everything was written')
      })
      await end(pools)
      await leaveServer(stopPostgres)
    },
  }
}

/** After a change of the master key every process moves what it finds; the key before it can be taken away once nothing is found. */
async function tendProviderKeys(providerKeys: StoredProviderKeys, log: Log): Promise<void> {
  providerKeys.sweep()
  const { resealed, failed } = await providerKeys.reseal()
  if (resealed > 0) log.info({ resealed }, 'provider keys were moved to the current master key')
  if (failed > 0) log.error({ failed }, 'provider keys do not open with the master key that sealed them')
}

async function end({ system, tenant }: Pools): Promise<void> {
  await Promise.all([system.end({ timeout: 1 }), tenant.end({ timeout: 1 })])
}

async function leave(
  target: Target,
  name: string,
  embedded: EmbeddedPostgres | null,
  stopPostgres: boolean,
): Promise<void> {
  if (!embedded) return
  if (stopPostgres && !(await isUsedByOthers(target, name))) await embedded.stop()
  else embedded.leave()
}

/**
 * Asked after our own pools have ended, so that of several processes that close at once the last finds nobody. Asked again for a moment, because
 * the server sees a connection end a little later than its client.
 */
async function isUsedByOthers(target: Target, name: string): Promise<boolean> {
  const sql = connectOnce(target, 'closing')
  try {
    for (let attempt = 0; attempt < 5; attempt += 1) {
      const [row] = await sql<{ used: boolean }[]>`
        select exists (select from pg_stat_activity
          where application_name like 'parley-%' and application_name <> ${name}) as used`
      if (!row?.used) return false
      await sql`select pg_sleep(0.02)`
    }
    return true
  } catch {
    return false // It does not answer: stopping is all that is left to do with it.
  } finally {
    await sql.end({ timeout: 1 })
  }
}

async function within(clock: Clock, delayMs: number, work: Promise<void>): Promise<void> {
  let cancel = () => {}
  const late = new Promise<never>((_, reject) => {
    cancel = clock.after(delayMs, () => reject(new Error(`not done within ${delayMs} ms`)))
  })
  try {
    await Promise.race([work, late])
  } finally {
    cancel()
  }
}
