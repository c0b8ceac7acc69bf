/** Opens the database, embedded or given, and hands out the ports over it. */
import { nanoid } from 'nanoid'
import type { LiveKeys, UsedTokens } from '../domain/access/ephemeral.ts'
import type { Limits } from '../domain/access/limits.ts'
import type { Keys } from '../domain/access/organization.ts'
import type { Credit } from '../domain/billing/ledger.ts'
import type { Idempotency } from '../domain/idempotency/idempotency.ts'
import type { Clock, Log } from '../domain/ports/system.ts'
import type { RequestRoutes } from '../domain/routing/request-route.ts'
import { type Loop, Loops } from '../runtime/loops.ts'
import { createKeyAdministration, type KeyAdministration } from './api-keys.ts'
import { createChoices } from './choices.ts'
import { checkServer, connect, connectOnce, type Pools, type Target } from './connect.ts'
import { createCredit } from './credit.ts'
import { database, role } from './embedded/cluster.ts'
import { type EmbeddedPostgres, startEmbedded } from './embedded/supervisor.ts'
import { createIdempotency, type IdempotencyLimits } from './idempotency.ts'
import { applicationName } from './instances.ts'
import { createKeys, createLiveKeys, type KeyCacheLimits } from './keys.ts'
import { createLedger, type StoredLedger } from './ledger.ts'
import { refreshMs, SharedLimits } from './limits.ts'
import { migrate } from './migrations/migrate.ts'
import { createOrganizations, type Organizations } from './organizations.ts'
import { createProviderKeys, type StoredProviderKeys } from './provider-keys.ts'
import { createRequestRoutes } from './request-routes.ts'
import { createSealer, type MasterKeys } from './sealed.ts'
import { createUsedTokens } from './used-tokens.ts'

export type StoreOptions = KeyCacheLimits & {
  /** Null: a Postgres of our own in the data folder. */
  databaseUrl: string | null
  dataDir: string
  /** For whoever waits at a terminal. */
  progress: (message: string) => void
  log: Log
  clock: Clock
  /**
   * Whether this process serves requests: it is then one of the instances among which limits are shared, and it does the work that repeats. A command
   * does neither.
   */
  serves: boolean
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
  limits: Limits
  /** How many instances serve from this database, this one included; at most `refreshMs` old. */
  liveInstances(): number
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
  const name = applicationName(instanceId)
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
  const { clock, log } = options
  const { leaseMs } = options.idempotency
  const access = createAccess(pools, options)
  const requests = createRequests(pools, instanceId, options)
  const limits = new SharedLimits(pools.system, clock, log, instanceId, leaseMs)
  const usedTokens = createUsedTokens(pools, clock)
  const sharing: Loop[] = [
    { name: 'instances', everyMs: Math.min(refreshMs, leaseMs / 4), run: () => limits.refresh() },
    { name: 'leases of dead instances', everyMs: leaseMs, run: () => limits.sweep() },
    { name: 'used tokens', everyMs: reapEveryMs, run: () => usedTokens.sweep() },
  ]
  const loops = new Loops(clock, log)
  if (options.serves) {
    // Before the first reservation: what belongs to an instance without a row is given back.
    await Promise.all([limits.join(), access.checked.listen()])
    await requests.credit.sweep()
    for (const loop of [...requests.loops, ...access.loops, ...sharing]) loops.start(loop)
  }

  async function flush(): Promise<void> {
    await Promise.all([requests.drain(), access.checked.noteUse()])
    if (options.serves) await limits.leave()
  }

  return {
    keys: access.keys,
    organizations: access.organizations,
    providerKeys: access.providerKeys,
    requestRoutes: createRequestRoutes(pools.tenant),
    idempotency: requests.idempotency,
    ledger: requests.ledger,
    credit: requests.credit,
    limits,
    liveInstances: () => limits.liveInstances,
    usedTokens,
    async ping() {
      await pools.system`select 1`
    },
    async close({ stopPostgres }) {
      await loops.stop(closeMs)
      await within(clock, closeMs, flush()).catch((err: unknown) => {
        log.error({ err }, 'the store closed before everything was written')
      })
      await end(pools)
      await leaveServer(stopPostgres)
    },
  }
}

/** Organizations and the keys of both kinds. */
function createAccess(pools: Pools, options: StoreOptions) {
  const { clock, log } = options
  const checked = createKeys(pools.system, clock, log, options)
  const providerKeys = createProviderKeys(pools, {
    ...options,
    sealer: () => createSealer(options.masterKeys()),
    forget: (organizationId) => checked.forget({ organizationId }),
  })
  const loops: Loop[] = [
    { name: 'provider keys', everyMs: reapEveryMs, run: () => tendProviderKeys(providerKeys, log) },
    { name: 'last use of keys', everyMs: reapEveryMs, run: () => checked.noteUse() },
  ]
  const keys = {
    ...createKeyAdministration(pools.tenant, clock),
    ...createLiveKeys(pools.tenant, clock, log),
    verify: (secret: string) => checked.verify(secret),
  }
  return { checked, keys, organizations: createOrganizations(pools.tenant, clock), providerKeys, loops }
}

/** What a request leaves behind: its idempotency key, its reservation, its ledger row and the choice behind it. */
function createRequests({ system }: Pools, instanceId: string, options: StoreOptions) {
  const { clock, log } = options
  const { leaseMs } = options.idempotency
  const idempotency = createIdempotency(system, clock, options.idempotency)
  const choices = createChoices(system, clock, options.choicesKeptMs)
  const ledger = createLedger(system, clock, log, choices)
  const credit = createCredit(system, clock, instanceId)
  const loops: Loop[] = [
    { name: 'leases of idempotency keys', everyMs: leaseMs / 4, run: () => idempotency.renew() },
    { name: 'reservations of dead instances', everyMs: leaseMs, run: () => credit.sweep() },
    { name: 'expired idempotency keys', everyMs: reapEveryMs, run: () => idempotency.reap() },
    { name: 'old choices', everyMs: reapEveryMs, run: () => choices.reap() },
  ]
  const drain = () => Promise.all([idempotency.drain(), ledger.drain(), credit.drain()])
  return { idempotency, ledger, credit, loops, drain }
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
