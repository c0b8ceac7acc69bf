import type { Tenant } from './organization.ts'
import type { Endpoint, EndpointSecrets } from './webhook-endpoint.ts'

/**
 * `at` is the unknown agent's index in `agentIds`. `endpointId` names another endpoint that would receive the pre-call
 * request for the same calls.
 */
export type EndpointOutcome =
  | { state: 'written'; endpoint: Endpoint }
  | { state: 'unknown' | 'legacy' | 'limit_reached' }
  | { state: 'agent_unknown'; at: number }
  | { state: 'conflict'; endpointId: string }

export type StoredEndpoint = { endpoint: Endpoint; secrets: EndpointSecrets }

/** Every method reads and writes one tenant's rows. A malformed id is treated as unknown. */
export interface EndpointStore {
  /** Lists the endpoints, newest first. */
  list(tenant: Tenant): Promise<Endpoint[]>
  find(tenant: Tenant, id: string): Promise<Endpoint | null>
  /**
   * Inserts an endpoint unless the tenant has `endpointsMax` endpoints. The limit applies even with simultaneous
   * inserts.
   */
  insert(stored: StoredEndpoint, endpointsMax: number): Promise<EndpointOutcome>
  /**
   * Reads the endpoint, calls `change` and writes the result, while the tenant's endpoints are locked. `secrets`
   * decrypts the secrets. If `change` throws, the endpoint is not changed.
   */
  change(
    tenant: Tenant,
    id: string,
    change: (endpoint: Endpoint, secrets: () => EndpointSecrets) => StoredEndpoint,
  ): Promise<EndpointOutcome>
  remove(tenant: Tenant, id: string): Promise<'removed' | 'unknown' | 'legacy'>
}
