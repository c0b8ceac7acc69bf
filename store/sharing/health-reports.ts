/**
 * Stores the reports in which each process tells the other processes how healthy its models are. Each process replaces
 * its row.
 */
import type { HealthReportStore, ModelReport } from '../../domain/health/health-reports.ts'
import type { Clock } from '../../domain/ports/system.ts'
import type { Sql } from '../postgres/connect.ts'

/** If a report is older than this, its process has ended. */
const oldMs = 60_000
/** Limits the reports in one read. */
const processesMax = 1_000

export function createHealthReportStore(sql: Sql, clock: Clock, instanceId: string): HealthReportStore {
  const oldest = () => new Date(clock.nowMs() - oldMs)
  return {
    async write(reports) {
      const now = new Date(clock.nowMs())
      await sql`
        with old as (delete from provider_health where written_at < ${oldest()} and process_id <> ${instanceId})
        insert into provider_health (process_id, models, written_at)
        values (${instanceId}, ${JSON.stringify(reports)}::text::json, ${now})
        on conflict (process_id) do update set models = excluded.models, written_at = excluded.written_at`
    },
    async readOthers() {
      const rows = await sql<{ models: ModelReport[]; writtenAt: Date }[]>`
        select models, written_at as "writtenAt" from provider_health
        where process_id <> ${instanceId} and written_at >= ${oldest()}
        order by written_at desc limit ${processesMax}`
      return rows.map(({ models, writtenAt }) =>
        models.map((model) => since(model, clock.nowMs() - writtenAt.getTime())),
      )
    },
  }
}

/** Shortens `retryAfterMs` by the report's age. */
function since(model: ModelReport, agoMs: number): ModelReport {
  const { blocked } = model
  const retryAfterMs = (blocked?.retryAfterMs ?? 0) - Math.max(0, agoMs)
  return { ...model, blocked: blocked && retryAfterMs > 0 ? { ...blocked, retryAfterMs } : null }
}
