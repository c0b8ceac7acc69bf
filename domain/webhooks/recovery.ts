/**
 * Makes an endpoint's failed deliveries due again. The dispatcher then sends them like new deliveries, within the
 * shares for one endpoint and one organization.
 */
import type { Tenant } from '../records/organization.ts'
import { type Issue, ResourceFault, refuseIssues } from '../records/resource-fault.ts'
import type { DeliveryPosition, DeliveryRange, DeliveryStore } from './delivery-store.ts'

/** The limit for deliveries in one request. The client repeats the request for more. */
const recoveredMax = 10_000
/** The limit for deliveries in one transaction, so that each transaction is short. */
const batchMax = 500
const dayMs = 86_400_000
const ageDaysMax = 30
/** A client's "30 days ago" is longer ago when the request arrives, and the client's clock may differ. */
const ageSpareMs = 3_600_000

/** Returns the number of deliveries. Throws ResourceFault `invalid`, `not_found` or `redelivery_unavailable`. */
export async function recoverDeliveries(
  { store, nowMs }: { store: DeliveryStore; nowMs: number },
  tenant: Tenant,
  range: DeliveryRange,
): Promise<number> {
  refuseIssues(issuesOf(range, nowMs))
  let count = 0
  let after: DeliveryPosition | null = null
  do {
    const leftMax: number = recoveredMax - count
    const batch = await store.recover(tenant, range, { max: Math.min(batchMax, leftMax), leftMax, after, nowMs })
    if (batch === 'unknown' || batch === 'disabled') {
      // The endpoint was deleted or disabled after the first batch.
      if (count > 0) return count
      throw batch === 'unknown' ? notFound() : disabled()
    }
    count += batch.count
    after = batch.next
  } while (after !== null && count < recoveredMax)
  return count
}

const notFound = () => new ResourceFault({ kind: 'not_found' })
const disabled = () => new ResourceFault({ kind: 'redelivery_unavailable', isEndpointDisabled: true })

function issuesOf({ fromMs, toMs }: DeliveryRange, nowMs: number): Issue[] {
  const issues: Issue[] = []
  if (fromMs < nowMs - ageDaysMax * dayMs - ageSpareMs)
    issues.push({ path: ['since'], problem: { kind: 'recovery_too_old' } })
  if (toMs !== null && toMs <= fromMs) issues.push({ path: ['until'], problem: { kind: 'recovery_empty' } })
  return issues
}
