/** Reads figures for the metrics: pending work in the database, and connections to it. */
import type { Clock } from '../domain/ports/system.ts'
import type { Tenancy } from './postgres/tenant.ts'

export type Waiting = { count: number; oldestMs: number }

export type StoreFigures = {
  /** This process's connections, by state. */
  connections: { active: number; idle: number; in_transaction: number }
  /** All clients' connections to the Postgres server. It allows `serverConnectionsMax`. */
  serverConnections: number
  serverConnectionsMax: number
  /** Counts reports without an analysis yet, recordings without an upload yet, and due callbacks. */
  work: Record<'reports' | 'uploads' | 'callbacks', Waiting>
}

type Row = Record<'active' | 'idle' | 'inTransaction' | 'serverConnections' | 'serverConnectionsMax', number> &
  Record<'reports' | 'uploads' | 'callbacks', number> &
  Record<'oldestReport' | 'oldestUpload' | 'oldestCallback', Date | null>

/** `name` is the application name on this process's connections. */
export function createReadFigures(tenancy: Pick<Tenancy, 'asOperator'>, clock: Clock, name: string) {
  return async (): Promise<StoreFigures> => {
    const nowMs = clock.nowMs()
    const row = await readRow(tenancy, name, new Date(nowMs))
    const waiting = (count: number, oldest: Date | null) => {
      return { count, oldestMs: oldest === null ? 0 : Math.max(0, nowMs - oldest.getTime()) }
    }
    return {
      connections: { active: row.active, idle: row.idle, in_transaction: row.inTransaction },
      serverConnections: row.serverConnections,
      serverConnectionsMax: row.serverConnectionsMax,
      work: {
        reports: waiting(row.reports, row.oldestReport),
        uploads: waiting(row.uploads, row.oldestUpload),
        callbacks: waiting(row.callbacks, row.oldestCallback),
      },
    }
  }
}

/** Reads all figures in one statement. Each kind of work has a partial index, so counting is cheap. */
function readRow(tenancy: Pick<Tenancy, 'asOperator'>, name: string, now: Date): Promise<Row> {
  return tenancy.asOperator(async (tx) => {
    const rows = await tx<Row[]>`
      select c.*, current_setting('max_connections')::int as "serverConnectionsMax", r.*, u.*, b.*
      from (
        select count(*)::int as "serverConnections", count(*) filter (where own and state = 'active')::int as active,
          count(*) filter (where own and state = 'idle')::int as idle,
          count(*) filter (where own and state like 'idle in transaction%')::int as "inTransaction"
        from (select application_name = ${name} as own, state from pg_stat_activity where backend_type = 'client backend') a
      ) c, (
        select count(*)::int as reports, min(created_at) as "oldestReport" from call_reports
        where analysis_status = 'pending'
      ) r, (
        select count(*)::int as uploads, min(ended_at) as "oldestUpload" from calls
        where recording_status = 'uploading' and ended_at is not null
      ) u, (
        select count(*)::int as callbacks, min(next_try_at) as "oldestCallback" from callbacks
        where status = 'scheduled' and next_try_at <= ${now}
      ) b`
    return rows[0] as Row
  })
}
