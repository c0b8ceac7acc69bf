import type { Tenant } from '../../domain/records/organization.ts'
import type { Endpoint } from '../../domain/records/webhook-endpoint.ts'
import { preCallConflict } from '../../domain/webhooks/conflict.ts'
import type { Tx } from '../postgres/connect.ts'
import { type EndpointRow, endpointColumns, endpointOf, ofTenant } from './webhook-endpoint-rows.ts'

/** Any number that no other advisory lock of two numbers has. */
const endpointsLock = 7_275_541

/**
 * Until the transaction ends, nobody else changes endpoints of the tenant. It is taken before any other lock, so that a change of
 * an endpoint and one of an agent that it names never wait for each other.
 */
export async function lockEndpoints(tx: Tx, { organizationId, test }: Tenant): Promise<void> {
  await tx`select pg_advisory_xact_lock(${endpointsLock}, hashtext(${`${organizationId} ${String(test)}`}))`
}

/** The endpoints of the tenant are locked. */
export async function conflictOf(tx: Tx, endpoint: Endpoint): Promise<Endpoint | null> {
  if (!endpoint.events.includes('call.pre_call')) return null
  const rows = await tx<EndpointRow[]>`
    select ${endpointColumns(tx)} from webhook_endpoints
    ${ofTenant(tx, endpoint)} and disabled_at is null and events ? 'call.pre_call' order by position`
  return preCallConflict(endpoint, rows.map(endpointOf))
}
