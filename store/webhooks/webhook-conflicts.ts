import type { Tenant } from '../../domain/records/organization.ts'
import type { Endpoint } from '../../domain/records/webhook-endpoint.ts'
import { preCallConflict } from '../../domain/webhooks/conflict.ts'
import { lockTenant } from '../postgres/advisory-locks.ts'
import type { Tx } from '../postgres/connect.ts'
import { type EndpointRow, endpointColumns, endpointOf, ofTenant } from './webhook-endpoint-rows.ts'

/**
 * Locks the tenant's endpoints until the transaction ends. Take this lock before any other lock. Otherwise changes to
 * an endpoint and to its agent could wait for each other.
 */
export const lockEndpoints = (tx: Tx, tenant: Tenant) => lockTenant(tx, tenant, 'endpoints')

/**
 * Finds an endpoint that would answer the same pre-call events as `endpoint`. The tenant's endpoints must be locked.
 */
export async function conflictOf(tx: Tx, endpoint: Endpoint): Promise<Endpoint | null> {
  if (!endpoint.events.includes('call.pre_call')) return null
  const rows = await tx<EndpointRow[]>`
    select ${endpointColumns(tx)} from webhook_endpoints
    ${ofTenant(tx, endpoint)} and disabled_at is null and events ? 'call.pre_call' order by position`
  return preCallConflict(endpoint, rows.map(endpointOf))
}
