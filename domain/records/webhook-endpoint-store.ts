import type { Tenant } from './organization.ts'
import type { Endpoint, EndpointSecrets } from './webhook-endpoint.ts'

/** `at` is the id's index in `agentIds`. `endpointId` names an endpoint able to match the same call. */
export type EndpointOutcome =
  | { state: 'written'; endpoint: Endpoint }
  | { state: 'unknown' | 'legacy' | 'limit_reached' }
  | { state: 'agent_unknown'; at: number }
  | { state: 'conflict'; endpointId: string }

export type StoredEndpoint = { endpoint: Endpoint; secrets: EndpointSecrets }

/** Every method reads and writes one tenant's rows. An id in another form counts as unknown. */
export interface EndpointStore {
  /** Newest first. */
  list(tenant: Tenant): Promise<Endpoint[]>
  find(tenant: Tenant, id: string): Promise<Endpoint | null>
  /** Allows at most `endpointsMax` endpoints, even with simultaneous inserts. */
  insert(stored: StoredEndpoint, endpointsMax: number): Promise<EndpointOutcome>
  /**
   * The tenant's endpoints are locked between reading and writing. `secrets` unseals the secrets. If `change` throws,
   * the endpoint stays as it was.
   */
  change(
    tenant: Tenant,
    id: string,
    change: (endpoint: Endpoint, secrets: () => EndpointSecrets) => StoredEndpoint,
  ): Promise<EndpointOutcome>
  remove(tenant: Tenant, id: string): Promise<'removed' | 'unknown' | 'legacy'>
}
