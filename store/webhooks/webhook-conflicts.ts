import type { Tenant } from '../../domain/records/organization.ts'
import type { Endpoint } from '../../domain/records/webhook-endpoint.ts'
import { preCallConflict } from '../../domain/webhooks/conflict.ts'
import type { Tx } from '../postgres/connect.ts'
import { type EndpointRow, endpointColumns, endpointOf, ofTenant } from './webhook-endpoint-rows.ts'

/** The first of an advisory lock's two numbers. `poolLock` has the same number, so both are one lock for a tenant. */
const endpointsLock = 7_275_541

/**
 * Locks the tenant's endpoints until the transaction ends. Take it before any other lock. Otherwise changes to an
 * endpoint and to its agent could wait for each other.
 */
export async function lockEndpoints(tx: Tx, { organizationId, test }: Tenant): Promise<void> {
  await tx`select pg_advisory_xact_lock(${endpointsLock}, hashtext(${`${organizationId} ${String(test)}`}))`
}

/** The tenant's endpoints must be locked. */
export async function conflictOf(tx: Tx, endpoint: Endpoint): Promise<Endpoint | null> {
  if (!endpoint.events.includes('call.pre_call')) return null
  const rows = await tx<EndpointRow[]>`
    select ${endpointColumns(tx)} from webhook_endpoints
    ${ofTenant(tx, endpoint)} and disabled_at is null and events ? 'call.pre_call' order by position`
  return preCallConflict(endpoint, rows.map(endpointOf))
}
