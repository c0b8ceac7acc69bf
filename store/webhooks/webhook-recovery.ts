/** Makes an endpoint's failed deliveries due again. The statements read and write only one tenant's rows. */
import type { Tenant } from '../../domain/records/organization.ts'
import type { DeliveryRange, RecoveredBatch, RecoveryBatch } from '../../domain/webhooks/delivery-store.ts'
import { expiryMs } from '../../domain/webhooks/outbox.ts'
import type { Tx } from '../postgres/connect.ts'
import { notifyDue } from './webhook-outbox.ts'

export async function recover(
  tx: Tx,
  tenant: Tenant,
  range: DeliveryRange,
  batch: RecoveryBatch,
): Promise<RecoveredBatch | 'unknown' | 'disabled'> {
  const [endpoint] = await tx<{ isDisabled: boolean }[]>`
    select disabled_at is not null as "isDisabled" from webhook_endpoints
    where organization_id = ${tenant.organizationId} and test = ${tenant.test} and id = ${range.endpointId}`
  if (!endpoint) return 'unknown'
  if (endpoint.isDisabled) return 'disabled'
  const recovered = await recoverFailed(tx, tenant, range, batch)
  if (recovered.count > 0) await notifyDue(tx, tenant, [range.endpointId])
  return recovered
}

/**
 * Rows that another transaction has locked are skipped: they are being sent, cancelled or recovered there. Test events
 * expire when they are created, because they are sent once. The delivery that is due first is sent first, so an older
 * delivery is due some microseconds before a newer one, also across the request's batches. The condition on `status` is
 * the condition of the index webhook_deliveries_failed.
 */
async function recoverFailed(
  tx: Tx,
  { organizationId, test }: Tenant,
  { endpointId, fromMs, toMs }: DeliveryRange,
  { max, leftMax, after, nowMs }: RecoveryBatch,
): Promise<RecoveredBatch> {
  const [last] = await tx<{ createdAt: Date; id: string; count: number }[]>`
    with failed as (
      select d.created_at, d.id from webhook_deliveries d
      where d.organization_id = ${organizationId} and d.test = ${test} and d.endpoint_id = ${endpointId}
        and d.status in ('failed', 'expired', 'cancelled') and (d.status <> 'cancelled' or d.error = 'disabled')
        and d.type <> 'call.pre_call' and d.expires_at > d.created_at and not d.superseded
        and d.created_at >= ${new Date(fromMs)}
        ${toMs === null ? tx`` : tx`and d.created_at < ${new Date(toMs)}`}
        ${after === null ? tx`` : tx`and (d.created_at, d.id) > (${new Date(after.createdAtMs)}, ${after.id})`}
      order by d.created_at, d.id limit ${max} for no key update skip locked
    ), ordered as (
      select id, row_number() over (order by created_at, id) as place from failed
    ), recovered as (
      update webhook_deliveries d set status = 'pending', failures = 0, error = null,
        due_at = ${new Date(nowMs)}::timestamptz + (o.place - ${leftMax}::integer) * interval '1 microsecond',
        expires_at = ${new Date(nowMs + expiryMs)}
      from ordered o where d.organization_id = ${organizationId} and d.test = ${test} and d.id = o.id
      returning d.created_at, d.id
    )
    select created_at as "createdAt", id, (count(*) over ())::int as count from recovered
    order by created_at desc, id desc limit 1`
  if (!last) return { count: 0, next: null }
  const { createdAt, id, count } = last
  return { count, next: count < max ? null : { createdAtMs: createdAt.getTime(), id } }
}
