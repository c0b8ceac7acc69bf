/** Opens the embedded Postgres or the database in DATABASE_URL, and makes the repositories for its tables. */
import { nanoid } from 'nanoid'
import type { Limits } from '../domain/access/limits.ts'
import type { HealthReportStore } from '../domain/health/health-reports.ts'
import type { SharedCounts } from '../runtime/engine/options.ts'
import { within } from '../runtime/timing/clock.ts'
import { Loops } from '../runtime/timing/loops.ts'
import { type Access, type AccessOptions, createAccess } from './access.ts'
import { waitForRestore } from './backup/restore-lock.ts'
import { createRequests, type RequestOptions, type Requests } from './billing/requests.ts'
import { type DatabaseOptions, type OpenDatabase, openDatabase } from './database/database.ts'
import { createReadFigures, type StoreFigures } from './figures.ts'
import { migrate, requireSchema } from './migrations/migrate.ts'
import { createDiskCheck } from './postgres/disk-check.ts'
import { createNotificationCheck } from './postgres/notification-check.ts'
import { isAway } from './postgres/outage.ts'
import { transactionEach, transactionsUnderWay } from './postgres/tenant.ts'
import { createRecords, type Records } from './records.ts'
import { type RecordOptions, retentionLoops } from './retention.ts'
import { createHealthReportStore } from './sharing/health-reports.ts'
import { applicationName } from './sharing/instances.ts'
import { openSharing } from './sharing.ts'

export type StoreOptions = AccessOptions &
  RequestOptions &
  RecordOptions &
  DatabaseOptions & {
    /**
     * True if this process serves requests. Then it is an instance, shares limits with other instances, and runs the
     * loops. A command is not an instance and runs no loops.
     */
    serves: boolean
    /**
     * The maximum number of connections for single organizations' transactions. Batches use two more, and LISTEN uses
     * one.
     */
    connectionsMax: number
    /**
     * A batch of statements fails if the database has not answered after this time. While the database is unreachable,
     * all work fails at once. Null: work waits without a limit.
     */
    deadlineMs: number | null
    /**
     * The URL for Redis or Valkey. Instances share limits and used one-time tokens through it. Null: they share
     * through the database.
     */
    redisUrl: string | null
  }

export type Store = Access &
  Requests &
  Records & {
    /** Identifies this process among all serving processes on one database. */
    instanceId: string
    limits: Limits & { waiting(): number }
    healthReports: HealthReportStore
    /**
     * Counts requests by IP address for all instances. Null: each instance allows its part of the quota for each IP
     * address.
     */
    addressCounts: SharedCounts | null
    /** Returns the number of instances on this database, including this instance. It is at most `refreshMs` old. */
    liveInstances(): number
    /** Counts transactions for single organizations, including transactions in the queue for a connection. */
    transactionsUnderWay(): number
    /** Reads figures for the metrics: pending work in the database, and connections to it. */
    figures(): Promise<StoreFigures>
    /** Returns true while the database is known to be unreachable. */
    isDatabaseAway(): boolean
    /** Rejects if the database does not answer, or cannot write. */
    ping(): Promise<void>
    /**
     * Writes pending rows and closes. `stopPostgres` also ends the embedded server, even if another process has started
     * it, unless another process still uses it. So the last process to close ends the server.
     */
    close(options: { stopPostgres: boolean }): Promise<void>
  }

const closeMs = 5_000
/** The shortest time between two checks of notifications. */
const notificationCheckMsMin = 1_000

export async function openStore(options: StoreOptions): Promise<Store> {
  const instanceId = nanoid()
  const opened = await openDatabase(options, applicationName(instanceId), options.connectionsMax, options.deadlineMs)
  try {
    await waitForRestore(opened.pools.tenant, options)
    if (options.prepares) await migrate(opened.pools.tenant, options.progress)
    else await requireSchema(opened.pools.tenant)
    return await assemble(opened, instanceId, options)
  } catch (error) {
    // If this call has started the Postgres server, the server is stopped again.
    await opened.close(opened.hasStartedServer)
    throw error
  }
}

async function assemble(opened: OpenDatabase, instanceId: string, options: StoreOptions): Promise<Store> {
  const { pools } = opened
  const { clock, log } = options
  const { leaseMs } = options.idempotency
  const sharing = await openSharing(pools.system, instanceId, { ...options, leaseMs })
  const { access, sealer, ...keys } = createAccess(pools, options, sharing.usedTokens)
  const { records, ...calls } = createRecords(pools, sealer, instanceId, options)
  const { requests, ...written } = createRequests(pools, instanceId, options)
  const aging = retentionLoops({ ...options, tenancy: transactionEach(pools.tenant) })
  const notifications = createNotificationCheck(pools, instanceId, log)
  const loops = new Loops(clock, log)
  if (options.serves) {
    // Dead instances' reservations are released before this instance makes its first reservation.
    await Promise.all([sharing.join(), keys.listen(), calls.listen(), notifications.listen()])
    await requests.credit.sweep()
    for (const loop of [...written.loops, ...keys.loops, ...calls.loops, ...sharing.loops, ...aging]) loops.start(loop)
    const everyMs = Math.max(options.keyCacheMs, notificationCheckMsMin)
    loops.start({ name: 'check of notifications', everyMs, run: () => notifications.check() })
  }

  async function flush(): Promise<void> {
    await Promise.all([written.drain(), keys.noteUse()])
    if (options.serves) await sharing.leave()
  }

  return {
    ...access,
    ...requests,
    ...records,
    instanceId,
    limits: sharing.limits,
    healthReports: createHealthReportStore(pools.system, clock, instanceId),
    addressCounts: sharing.addressCounts,
    liveInstances: () => sharing.limits.liveInstances,
    transactionsUnderWay: () => transactionsUnderWay(pools.tenant),
    figures: createReadFigures(transactionEach(pools.tenant), clock, applicationName(instanceId)),
    isDatabaseAway: () => isAway(pools.system),
    ping: createDiskCheck(pools.system),
    async close({ stopPostgres }) {
      await loops.stop(closeMs)
      await within(clock, closeMs, flush(), `not done within ${closeMs} ms`).catch((err: unknown) => {
        log.error({ err }, 'the store closed before everything was written')
      })
      sharing.close()
      await opened.close(stopPostgres)
    },
  }
}
