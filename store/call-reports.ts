/** Reports of calls. */
import type { Tenant } from '../domain/access/organization.ts'
import type { CallEvent } from '../domain/calls/call.ts'
import type { EndpointData } from '../domain/calls/extraction.ts'
import type { Report } from '../domain/calls/report.ts'
import type { Analysis, PendingReport, ReportStore } from '../domain/calls/store.ts'
import type { Clock } from '../domain/ports/system.ts'
import { notifyCallChange } from './call-changes.ts'
import { insertEvents } from './call-entries.ts'
import { isCallId, ofCallId, readCall } from './call-rows.ts'
import type { CallWebhooks } from './call-webhooks.ts'
import { insertPromised } from './callbacks.ts'
import type { Tx } from './connect.ts'
import { type Receivers, readReport } from './report-rows.ts'
import type { Tenancy, Worlds } from './tenant.ts'

type Deps = {
  worlds: Worlds & Pick<Tenancy, 'asOperator'>
  clock: Clock
  webhooks: CallWebhooks
  eventId: () => string
}

export function createReportStore(deps: Deps): ReportStore {
  const { worlds, clock, webhooks } = deps
  return {
    find: async (tenant, id) => (isCallId(id) ? worlds.asTenant(tenant, (tx) => readReport(tx, tenant, id)) : null),
    claim: (tenant, id, untilMs) =>
      worlds.asTenant(tenant, async (tx) => {
        const { count } = await tx`
          update call_reports set claimed_until = ${new Date(untilMs)}
          ${ofCallId(tx, tenant, id)} and (claimed_until is null or claimed_until <= ${new Date(clock.nowMs())})`
        return count > 0
      }),
    endpointFields: (tenant, id) => worlds.asTenant(tenant, (tx) => webhooks.fields(tx, tenant, id)),
    complete: (tenant, id, analysis, isFirst) =>
      worlds.asTenant(tenant, async (tx) => {
        if (analysis !== null) return complete(tx, deps, tenant, id, analysis, isFirst)
        await tx`update call_reports set claimed_until = null ${ofCallId(tx, tenant, id)}`
      }),
    pending: (limit) =>
      worlds.asOperator(
        (tx) => tx<PendingReport[]>`
          select organization_id as "organizationId", test, call_id as "callId",
            (extract(epoch from created_at) * 1000)::float8 as "madeAtMs"
          from call_reports
          where analysis_status = 'pending' and (claimed_until is null or claimed_until <= ${new Date(clock.nowMs())})
          order by created_at limit ${limit}`,
      ),
  }
}

/** The row of the call is locked, as by all that makes events of it: its recording may become ready at this moment. */
async function complete(
  tx: Tx,
  { clock, eventId, webhooks }: Deps,
  tenant: Tenant,
  id: string,
  analysis: Analysis,
  isFirst: boolean,
): Promise<void> {
  const found = await readCall(tx, tenant, id, true)
  const before = await readReport(tx, tenant, id)
  if (found === null || before === null) return
  const wasPending = before.analysisStatus === 'pending'
  if (isFirst && !wasPending) return
  const nowMs = clock.nowMs()
  await write(tx, tenant, id, analysis, new Date(nowMs))
  const said = {
    id: eventId(),
    provider: 'service' as const,
    type: `analysis.${analysis.status}` as const,
    status: found.call.status,
    failureCause: null,
    occurredAtMs: nowMs,
    payload: {},
  }
  const events: CallEvent[] = [said]
  if (analysis.callback !== null) {
    await insertPromised(tx, analysis.callback)
    const payload = { callback_id: analysis.callback.id }
    events.push({ ...said, id: eventId(), type: 'callback.scheduled', payload })
  }
  await insertEvents(tx, found.call, events, nowMs)
  await webhooks.analysed(tx, found.call, wasPending, nowMs)
  await notifyCallChange(tx, id)
}

export async function insertReport(
  tx: Tx,
  call: Tenant & { id: string },
  report: Report & { endpointData: EndpointData },
  receivers: Receivers | null,
): Promise<void> {
  const completedAt = report.analysisCompletedAtMs === null ? null : new Date(report.analysisCompletedAtMs)
  await tx`
    insert into call_reports (organization_id, test, call_id, version, analysis_status, summary, outcome, structured_data,
      custom_data, endpoint_data, receivers, analysis_completed_at, created_at, updated_at)
    values (${call.organizationId}, ${call.test}, ${call.id}, ${report.version}, ${report.analysisStatus},
      ${storable(report.summary)}, ${report.outcome}, ${jsonOf(report.structuredData)}::text::json,
      ${jsonOf(report.customData)}::text::json, ${jsonOf(report.endpointData)}::text::json, ${jsonOf(receivers)}::text::json,
      ${completedAt}, ${new Date(report.createdAtMs)}, ${new Date(report.updatedAtMs)})
    on conflict do nothing`
}

/** An analysis that was pending stays the first version. */
async function write(tx: Tx, tenant: Tenant, id: string, analysis: Analysis, now: Date): Promise<void> {
  await tx`
    update call_reports set version = version + case when analysis_status = 'pending' then 0 else 1 end,
      analysis_status = ${analysis.status}, summary = ${storable(analysis.summary)}, outcome = ${analysis.outcome},
      structured_data = ${jsonOf(analysis.structuredData)}::text::json,
      custom_data = ${jsonOf(analysis.customData)}::text::json,
      endpoint_data = ${jsonOf(analysis.endpointData)}::text::json, analysis_provider = ${analysis.provider},
      analysis_model = ${analysis.model}, analysis_error = ${analysis.error}, analysis_completed_at = ${now},
      updated_at = ${now}, claimed_until = null
    ${ofCallId(tx, tenant, id)}`
}

const jsonOf = (value: unknown) => (value === null ? null : JSON.stringify(value))

/** An LLM wrote it. A text of Postgres has no U+0000. */
function storable(text: string): string {
  return text.replaceAll('\0', '\uFFFD')
}
