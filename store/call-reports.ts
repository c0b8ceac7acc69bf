/** Reports of calls. */
import type { Tenant } from '../domain/access/organization.ts'
import type { CallEvent } from '../domain/calls/call.ts'
import type { Report } from '../domain/calls/report.ts'
import type { Analysis, ReportStore } from '../domain/calls/store.ts'
import type { Clock } from '../domain/ports/system.ts'
import { notifyCallChange } from './call-changes.ts'
import { insertEvents } from './call-entries.ts'
import { isCallId, ofCall, ofCallId } from './call-rows.ts'
import { insertPromised } from './callbacks.ts'
import type { Tx } from './connect.ts'
import type { Tenancy, Worlds } from './tenant.ts'

type Row = Omit<Report, 'analysisCompletedAtMs' | 'createdAtMs' | 'updatedAtMs'> & {
  analysisCompletedAt: Date | null
  createdAt: Date
  updatedAt: Date
}

type Deps = { worlds: Worlds & Pick<Tenancy, 'asOperator'>; clock: Clock; eventId: () => string }

export function createReportStore({ worlds, clock, eventId }: Deps): ReportStore {
  return {
    find: async (tenant, id) => (isCallId(id) ? worlds.asTenant(tenant, (tx) => read(tx, tenant, id)) : null),
    claim: (tenant, id, untilMs) =>
      worlds.asTenant(tenant, async (tx) => {
        const { count } = await tx`
          update call_reports set claimed_until = ${new Date(untilMs)}
          ${ofCallId(tx, tenant, id)} and (claimed_until is null or claimed_until <= ${new Date(clock.nowMs())})`
        return count > 0
      }),
    complete: (tenant, id, analysis) =>
      worlds.asTenant(tenant, async (tx) => {
        const nowMs = clock.nowMs()
        if (analysis === null) {
          await tx`update call_reports set claimed_until = null ${ofCallId(tx, tenant, id)}`
          return
        }
        await write(tx, tenant, id, analysis, new Date(nowMs))
        const [call] = await tx<{ status: null }[]>`select status from calls ${ofCall(tx, tenant, id)}`
        const event = {
          id: eventId(),
          provider: 'service',
          type: `analysis.${analysis.status}`,
          failureCause: null,
        } as const
        const said = { ...event, status: call?.status ?? null, occurredAtMs: nowMs, payload: {} }
        const events: CallEvent[] = [said]
        if (analysis.callback !== null) {
          await insertPromised(tx, analysis.callback)
          const payload = { callback_id: analysis.callback.id }
          events.push({ ...said, id: eventId(), type: 'callback.scheduled', payload })
        }
        await insertEvents(tx, { ...tenant, id }, events, nowMs)
        await notifyCallChange(tx, id)
      }),
    pending: (limit) =>
      worlds.asOperator(
        (tx) => tx<(Tenant & { callId: string })[]>`
          select organization_id as "organizationId", test, call_id as "callId" from call_reports
          where analysis_status = 'pending' and (claimed_until is null or claimed_until <= ${new Date(clock.nowMs())})
          order by created_at limit ${limit}`,
      ),
  }
}

export async function insertReport(tx: Tx, call: Tenant & { id: string }, report: Report): Promise<void> {
  const completedAt = report.analysisCompletedAtMs === null ? null : new Date(report.analysisCompletedAtMs)
  await tx`
    insert into call_reports (organization_id, test, call_id, version, analysis_status, summary, outcome, structured_data,
      custom_data, analysis_completed_at, created_at, updated_at)
    values (${call.organizationId}, ${call.test}, ${call.id}, ${report.version}, ${report.analysisStatus},
      ${storable(report.summary)}, ${report.outcome}, ${jsonOf(report.structuredData)}::text::json,
      ${jsonOf(report.customData)}::text::json, ${completedAt}, ${new Date(report.createdAtMs)}, ${new Date(report.updatedAtMs)})
    on conflict do nothing`
}

/** An analysis that was pending stays the first version. */
async function write(tx: Tx, tenant: Tenant, id: string, analysis: Analysis, now: Date): Promise<void> {
  await tx`
    update call_reports set version = version + case when analysis_status = 'pending' then 0 else 1 end,
      analysis_status = ${analysis.status}, summary = ${storable(analysis.summary)}, outcome = ${analysis.outcome},
      structured_data = ${jsonOf(analysis.structuredData)}::text::json,
      custom_data = ${jsonOf(analysis.customData)}::text::json, analysis_provider = ${analysis.provider},
      analysis_model = ${analysis.model}, analysis_error = ${analysis.error}, analysis_completed_at = ${now},
      updated_at = ${now}, claimed_until = null
    ${ofCallId(tx, tenant, id)}`
}

async function read(tx: Tx, tenant: Tenant, id: string): Promise<Report | null> {
  const [row] = await tx<Row[]>`
    select version, analysis_status as "analysisStatus", summary, outcome, structured_data as "structuredData",
      custom_data as "customData", analysis_provider as "analysisProvider", analysis_model as "analysisModel",
      analysis_error as "analysisError", analysis_completed_at as "analysisCompletedAt", created_at as "createdAt",
      updated_at as "updatedAt"
    from call_reports ${ofCallId(tx, tenant, id)}`
  if (!row) return null
  const { analysisCompletedAt, createdAt, updatedAt, ...report } = row
  return {
    ...report,
    analysisCompletedAtMs: analysisCompletedAt?.getTime() ?? null,
    createdAtMs: createdAt.getTime(),
    updatedAtMs: updatedAt.getTime(),
  }
}

const jsonOf = (value: unknown) => (value === null ? null : JSON.stringify(value))

/** An LLM wrote it. A text of Postgres has no U+0000. */
function storable(text: string): string {
  return text.replaceAll('\0', '\uFFFD')
}
