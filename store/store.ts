/** Opens the database, embedded or given, and hands out the ports over it. */
import { nanoid } from 'nanoid'
import type { Limits } from '../domain/access/limits.ts'

import type { Clock, Log } from '../domain/ports/system.ts'

import { type Loop, Loops } from '../runtime/loops.ts'
import { type Access, type AccessOptions, createAccess } from './access.ts'
import { checkServer, connect, connectOnce, type Pools, type Target } from './connect.ts'
import { database, role } from './embedded/cluster.ts'
import { type EmbeddedPostgres, startEmbedded } from './embedded/supervisor.ts'
import { applicationName } from './instances.ts'
import { refreshMs, SharedLimits } from './limits.ts'
import { migrate } from './migrations/migrate.ts'
import { createRequests, type RequestOptions, type Requests } from './requests.ts'

export type StoreOptions = AccessOptions &
  RequestOptions & {
    /** Null: a Postgres of ours in the data folder. */
    databaseUrl: string | null
    dataDir: string
    /** Shown to a person who waits at a terminal. */
    progress: (message: string) => void
    log: Log
    clock: Clock
    /**
     * Whether this process serves requests: it is then one of the instances among which limits are shared, and it
     * does the work that repeats. A command does neither.
     */
    serves: boolean
    /** The connections for single organizations. Batches have two more, and LISTEN has one. */
    connectionsMax: number
  }

export type Store = Access &
  Requests & {
    limits: Limits
    /** How many instances serve from this database, this one included; at most `refreshMs` old. */
    liveInstances(): number
    /** Rejects when the database does not answer. */
    ping(): Promise<void>
    /**
     * Writes what waits and closes. `stopPostgres` also ends the embedded server, adopted or not, unless another
     * process still uses it: so the last process to close ends it.
     */
    close(options: { stopPostgres: boolean }): Promise<void>
  }

const closeMs = 5_000

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
    // A server that this start has started must not outlive it.
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
  const { access, ...keys } = createAccess(pools, options)
  const { requests, ...written } = createRequests(pools, instanceId, options)
  const limits = new SharedLimits(pools.system, clock, log, instanceId, leaseMs)
  const sharing: Loop[] = [
    { name: 'instances', everyMs: Math.min(refreshMs, leaseMs / 4), run: () => limits.refresh() },
    { name: 'leases of dead instances', everyMs: leaseMs, run: () => limits.sweep() },
  ]
  const loops = new Loops(clock, log)
  if (options.serves) {
    // Reservations of instances without a row are given back before the first new one.
    await Promise.all([limits.join(), keys.listen()])
    await requests.credit.sweep()
    for (const loop of [...written.loops, ...keys.loops, ...sharing]) loops.start(loop)
  }

  async function flush(): Promise<void> {
    await Promise.all([written.drain(), keys.noteUse()])
    if (options.serves) await limits.leave()
  }

  return {
    ...access,
    ...requests,
    limits,
    liveInstances: () => limits.liveInstances,
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
 * Is called after this process has ended its pools, so that the last of several processes that close at once finds
 * no other. It repeats the question for a moment, because the server sees a connection end a little later than its
 * client.
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
    return false // A server that does not answer can only be stopped.
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
