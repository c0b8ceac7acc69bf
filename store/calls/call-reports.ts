/** Stores call reports, and claims pending reports for their analysis. */
import { type EndpointData, extractionOf } from '../../domain/calls/extraction.ts'
import { endedCallOf, firstReport, type Report } from '../../domain/calls/report.ts'
import type { Analysis, PendingReport, ReportClaim, ReportStore } from '../../domain/calls/store.ts'
import {
  type Audience,
  type ReportReceivers,
  receiversOf,
  type StoredReport,
} from '../../domain/calls/webhook-events.ts'
import type { Clock } from '../../domain/ports/system.ts'
import type { Call, CallEvent } from '../../domain/records/call.ts'
import type { Tenant } from '../../domain/records/organization.ts'
import type { Tx } from '../postgres/connect.ts'
import { dateOrNull, isUuid, storable } from '../postgres/row-values.ts'
import type { Tenancy, Worlds } from '../postgres/tenant.ts'
import { notifyCallChange } from './call-changes.ts'
import { insertEvents, turnSources } from './call-entries.ts'
import { writeFacts } from './call-facts.ts'
import { ofCallId, readCall } from './call-rows.ts'
import { type CallWebhooks, extractionFieldsOf } from './call-webhooks.ts'
import { insertPromised } from './callbacks.ts'
import { type ReportRow, readStoredReport, reportColumns, storedReportOf } from './report-rows.ts'

type Deps = {
  worlds: Worlds & Pick<Tenancy, 'asOperator'>
  clock: Clock
  webhooks: CallWebhooks
  eventId: () => string
}

export function createReportStore(deps: Deps): ReportStore {
  const { worlds, clock } = deps
  return {
    find: async (tenant, id) => {
      if (!isUuid(id)) return null
      return worlds.asTenant(tenant, async (tx) => (await readStoredReport(tx, tenant, id))?.report ?? null)
    },
    claim: (tenant, id, untilMs) => worlds.asTenant(tenant, (tx) => claim(tx, deps, tenant, id, untilMs)),
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

/**
 * Claims a pending call report, so no other process analyses it. Reads and claims the row in one transaction, because
 * another process may be completing the report.
 */
async function claim(
  tx: Tx,
  { clock }: Deps,
  tenant: Tenant,
  id: string,
  untilMs: (report: Report) => number | null,
): Promise<ReportClaim> {
  const [row] = await tx<(ReportRow & { claimedUntil: Date | null })[]>`
    select ${reportColumns(tx)}, claimed_until as "claimedUntil" from call_reports ${ofCallId(tx, tenant, id)} for update`
  if (!row) return { state: 'not_needed' }
  const { claimedUntil, ...stored } = row
  if (claimedUntil !== null && claimedUntil.getTime() > clock.nowMs()) return { state: 'taken' }
  const { report, receivers } = storedReportOf(stored)
  const until = untilMs(report)
  if (until === null) return { state: 'not_needed' }
  const [endpoints] = await Promise.all([
    extractionFieldsOf(tx, tenant, receivers),
    tx`update call_reports set claimed_until = ${new Date(until)} ${ofCallId(tx, tenant, id)}`,
  ])
  return { state: 'claimed', report, endpoints }
}

/**
 * Stores an analysis and its events. Locks the call's row, like all code that stores events for a call, because the
 * call's recording may become ready at this moment.
 */
async function complete(
  tx: Tx,
  { clock, eventId, webhooks }: Deps,
  tenant: Tenant,
  id: string,
  analysis: Analysis,
  isFirst: boolean,
): Promise<void> {
  const record = await readCall(tx, tenant, id, true)
  if (record === null) return
  const nowMs = clock.nowMs()
  const stored = await write(tx, tenant, id, analysis, isFirst, new Date(nowMs))
  if (stored === null) return
  const said = {
    id: eventId(),
    provider: 'service' as const,
    type: `analysis.${analysis.status}` as const,
    status: record.call.status,
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
  await insertEvents(tx, record.call, events, nowMs)
  await writeFacts(tx, [id], nowMs, true)
  await webhooks.analysed(tx, record.call, stored, isFirst, nowMs)
  await notifyCallChange(tx, record.call)
}

/** Stores the call report for a call that is ending. Returns the type of its analysis event. */
export async function insertFirstReport(
  tx: Tx,
  call: Call,
  audience: Audience,
  results: { hasCallback: boolean; isTransferred: boolean },
  nowMs: number,
): Promise<CallEvent['type']> {
  const { receivers, fields } = receiversOf(audience)
  const { customData, endpointData } = extractionOf(call.pipeline.extractionFields, fields).read({})
  const report = firstReport(endedCallOf(call, await turnSources(tx, call), results, customData), nowMs)
  await insertReport(tx, call, { ...report, endpointData }, receivers)
  return `analysis.${report.analysisStatus}`
}

async function insertReport(
  tx: Tx,
  call: Tenant & { id: string },
  report: Report & { endpointData: EndpointData },
  receivers: ReportReceivers | null,
): Promise<void> {
  const completedAt = dateOrNull(report.analysisCompletedAtMs)
  await tx`
    insert into call_reports (organization_id, test, call_id, version, analysis_status, summary, outcome, structured_data,
      custom_data, endpoint_data, receivers, analysis_completed_at, created_at, updated_at)
    values (${call.organizationId}, ${call.test}, ${call.id}, ${report.version}, ${report.analysisStatus},
      ${storable(report.summary)}, ${report.outcome}, ${jsonOf(report.structuredData)}::text::json,
      ${jsonOf(report.customData)}::text::json, ${jsonOf(report.endpointData)}::text::json, ${jsonOf(receivers)}::text::json,
      ${completedAt}, ${new Date(report.createdAtMs)}, ${new Date(report.updatedAtMs)})
    on conflict do nothing`
}

/**
 * Writes the analysis. The version stays the same if the analysis was pending. Returns null if another process has
 * stored the first analysis.
 */
async function write(
  tx: Tx,
  tenant: Tenant,
  id: string,
  analysis: Analysis,
  isFirst: boolean,
  now: Date,
): Promise<StoredReport | null> {
  const [row] = await tx<ReportRow[]>`
    update call_reports set version = version + ${isFirst ? 0 : 1},
      analysis_status = ${analysis.status}, summary = ${storable(analysis.summary)}, outcome = ${analysis.outcome},
      structured_data = ${jsonOf(analysis.structuredData)}::text::json,
      custom_data = ${jsonOf(analysis.customData)}::text::json,
      endpoint_data = ${jsonOf(analysis.endpointData)}::text::json, analysis_provider = ${analysis.provider},
      analysis_model = ${analysis.model}, analysis_error = ${analysis.error}, analysis_completed_at = ${now},
      updated_at = ${now}, claimed_until = null
    ${ofCallId(tx, tenant, id)} and (analysis_status = 'pending') = ${isFirst} returning ${reportColumns(tx)}`
  return row ? storedReportOf(row) : null
}

const jsonOf = (value: unknown) => (value === null ? null : JSON.stringify(value))
