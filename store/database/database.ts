/** Opens a store's Postgres: the server in DATABASE_URL, or an embedded Postgres in the data folder. */
import type { Clock, Log } from '../../domain/ports/system.ts'
import { database, requireCluster, role } from '../embedded/cluster.ts'
import { type EmbeddedPostgres, startEmbedded } from '../embedded/supervisor.ts'
import { checkServer, connect, connectOnce, createProbe, type Pools, type Target } from '../postgres/connect.ts'
import { Outage, watchFor } from '../postgres/outage.ts'
import { namePrefix } from '../sharing/instances.ts'

export type DatabaseOptions = {
  /** The server's URL. Null: an embedded Postgres in the data folder. */
  databaseUrl: string | null
  dataDir: string
  /** True: makes the embedded database and the schema if they are missing. False: opening fails if they are missing. */
  prepares: boolean
  /** Shows messages to a person at a terminal. */
  progress: (message: string) => void
  log: Log
  clock: Clock
}

export type OpenDatabase = {
  pools: Pools
  target: Target
  /** False if the server was running already. */
  hasStartedServer: boolean
  /** `stopPostgres` also ends the embedded server, unless another process still uses it. */
  close(stopPostgres: boolean): Promise<void>
}

/**
 * Opens the database. `name` marks this process's connections in pg_stat_activity. A batch is refused after
 * `deadlineMs`, and all work is refused while the database is unreachable. If `deadlineMs` is null, all work waits.
 */
export async function openDatabase(
  options: DatabaseOptions,
  name: string,
  connectionsMax: number,
  deadlineMs: number | null = null,
): Promise<OpenDatabase> {
  const { databaseUrl, dataDir, prepares, log } = options
  if (databaseUrl === null && !prepares) requireCluster(dataDir)
  const embedded = databaseUrl === null ? await startEmbedded(options) : null
  const target: Target = embedded
    ? { socketDir: embedded.socketDir, role, database }
    : { databaseUrl: databaseUrl ?? '' }
  const hasStartedServer = embedded?.adopted === false
  let pools: Pools | null = null
  let outage: Outage | null = null
  const close = async (stopPostgres: boolean) => {
    outage?.close()
    if (pools) await end(pools)
    await leave(target, name, embedded, stopPostgres)
  }
  try {
    pools = connect(target, name, connectionsMax)
    await checkServer(pools.system, target, log)
    if (deadlineMs !== null) outage = watch(pools, target, deadlineMs, log)
    return { pools, target, hasStartedServer, close }
  } catch (error) {
    await close(hasStartedServer)
    throw error
  }
}

/** After an outage, connections from before it are destroyed if they receive no data within this time. */
const oldConnectionMs = 500

/** Watches for outages of the database behind these pools. */
function watch(pools: Pools, target: Target, deadlineMs: number, log: Log): Outage {
  const outage = new Outage({
    deadlineMs,
    probe: createProbe(pools, target, deadlineMs),
    changed(isAway) {
      if (isAway) return log.error({}, 'the database does not answer: all that needs it is refused until it does')
      log.warn({}, 'the database answers again')
      setTimeout(pools.sockets.noteSilent(), oldConnectionMs).unref()
    },
  })
  watchFor(outage, [pools.system, pools.tenant])
  return outage
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
 * Returns true if another process is connected. Call this after this process has closed its connections. So if several
 * processes close at once, the last process finds no other. The query repeats for a moment, because the server sees a
 * connection's end a little later than the client.
 */
async function isUsedByOthers(target: Target, name: string): Promise<boolean> {
  const sql = connectOnce(target, 'closing')
  try {
    for (let attempt = 0; attempt < 5; attempt += 1) {
      const [row] = await sql<{ used: boolean }[]>`
        select exists (select from pg_stat_activity
          where application_name like ${`${namePrefix}%`} and application_name <> ${name}) as used`
      if (!row?.used) return false
      await sql`select pg_sleep(0.02)`
    }
    return true
  } catch {
    return false // A server that does not answer serves no other process, so it may be stopped.
  } finally {
    await sql.end({ timeout: 1 })
  }
}
