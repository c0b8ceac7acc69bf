/** Deliveries of call reports. Every statement reads or writes one organization's live or test rows. */
import type { Clock } from '../../domain/ports/system.ts'
import type { Tenant } from '../../domain/records/organization.ts'
import { expiryMs } from '../../domain/webhooks/outbox.ts'
import type { ReportDeliveryStore, StoredReportDelivery } from '../../domain/webhooks/report-deliveries.ts'
import type { Tx } from '../postgres/connect.ts'
import { isUuid } from '../postgres/row-values.ts'
import type { Worlds } from '../postgres/tenant.ts'
import { notifyDue } from '../webhooks/webhook-outbox.ts'
import { ofCallId } from './call-rows.ts'
import { readReceivers } from './report-rows.ts'

/** The contract's limit for one HTTP response. */
const deliveriesMax = 200

type Row = Omit<StoredReportDelivery, 'isDelivered' | 'createdAtMs' | 'dueAtMs' | 'deliveredAtMs'> & {
  createdAt: Date
  dueAt: Date
  deliveredAt: Date | null
}

export function createReportDeliveryStore({ worlds, clock }: { worlds: Worlds; clock: Clock }): ReportDeliveryStore {
  return {
    ofReport: async (tenant, callId) => {
      if (!isUuid(callId)) return { deliveries: [], receivers: 0 }
      return worlds.asTenant(tenant, async (tx) => {
        const receivers = await readReceivers(tx, tenant, callId)
        // A report without receivers has no deliveries, so no query is needed.
        if (receivers === null) return { deliveries: [], receivers: 0 }
        return { deliveries: await read(tx, tenant, callId), receivers: receivers.report.length }
      })
    },
    retryReport: async (tenant, callId) => {
      if (!isUuid(callId)) return
      await worlds.asTenant(tenant, (tx) => retry(tx, tenant, callId, clock.nowMs()))
    },
  }
}

async function read(tx: Tx, tenant: Tenant, callId: string): Promise<StoredReportDelivery[]> {
  const rows = await tx<Row[]>`
    select id, event_id as "eventId", endpoint_id as "endpointId", status, version, attempts, http_status as "httpStatus",
      error, created_at as "createdAt", due_at as "dueAt", delivered_at as "deliveredAt"
    from webhook_deliveries ${ofCallId(tx, tenant, callId)} and type = 'call.report'
    order by version desc, created_at desc, id limit ${deliveriesMax}`
  return rows.map(({ createdAt, dueAt, deliveredAt, ...row }) => ({
    ...row,
    isDelivered: deliveredAt !== null,
    createdAtMs: createdAt.getTime(),
    dueAtMs: dueAt.getTime(),
    deliveredAtMs: deliveredAt?.getTime() ?? null,
  }))
}

/**
 * Sends a call report's last delivery again, with its `webhook-id` unchanged. An older report version is not sent after
 * a newer version.
 */
async function retry(tx: Tx, tenant: Tenant, callId: string, nowMs: number): Promise<void> {
  const now = new Date(nowMs)
  // Locks rows by id, in the same order as `enqueue` and the code to store attempts' results. Otherwise two
  // transactions could wait for each other.
  const rows = await tx<{ endpointId: string }[]>`
    with stopped as (
      select id from webhook_deliveries d
      ${ofCallId(tx, tenant, callId)} and type = 'call.report' and status in ('failed', 'expired') and not superseded
        and version = (select max(version) from webhook_deliveries ${ofCallId(tx, tenant, callId)} and type = 'call.report')
        and exists (select from webhook_endpoints e where e.organization_id = d.organization_id and e.test = d.test
          and e.id = d.endpoint_id and e.disabled_at is null)
      order by id for no key update
    )
    update webhook_deliveries d set status = 'pending', failures = 0, error = null, due_at = ${now},
      expires_at = ${new Date(nowMs + expiryMs)}
    from stopped s where d.organization_id = ${tenant.organizationId} and d.test = ${tenant.test} and d.id = s.id
    returning endpoint_id as "endpointId"`
  await notifyDue(
    tx,
    tenant,
    rows.map(({ endpointId }) => endpointId),
  )
}
