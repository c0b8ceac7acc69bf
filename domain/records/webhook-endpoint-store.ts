import type { Tenant } from './organization.ts'
import type { Endpoint, EndpointSecrets } from './webhook-endpoint.ts'

/** `at` is the place of the id in `agentIds`. `endpointId` names the endpoint that could match a call of this one. */
export type EndpointOutcome =
  | { state: 'written'; endpoint: Endpoint }
  | { state: 'unknown' | 'legacy' | 'limit_reached' }
  | { state: 'agent_unknown'; at: number }
  | { state: 'conflict'; endpointId: string }

export type StoredEndpoint = { endpoint: Endpoint; secrets: EndpointSecrets }

/** Every call reads and writes rows of this tenant alone. An id of another form is an unknown one. */
export interface EndpointStore {
  /** Newest first. */
  list(tenant: Tenant): Promise<Endpoint[]>
  find(tenant: Tenant, id: string): Promise<Endpoint | null>
  /** Inserts at most `endpointsMax`, also when several are inserted at once. */
  insert(stored: StoredEndpoint, endpointsMax: number): Promise<EndpointOutcome>
  /**
   * Nobody else changes an endpoint of the tenant between its reading and its writing. `secrets` opens what is sealed. If `change`
   * throws, the endpoint stays as it was.
   */
  change(
    tenant: Tenant,
    id: string,
    change: (endpoint: Endpoint, secrets: () => EndpointSecrets) => StoredEndpoint,
  ): Promise<EndpointOutcome>
  remove(tenant: Tenant, id: string): Promise<'removed' | 'unknown' | 'legacy'>
}
