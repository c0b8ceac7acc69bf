/** Reads and changes the webhook endpoints of an organization. */
import type { Clock } from '../ports/system.ts'
import type { Tenant } from '../records/organization.ts'
import { repeatedItems } from '../records/repeated.ts'
import { type Issue, ResourceFault, refuseIssues, requireResource } from '../records/resource-fault.ts'
import { blankEndpoint, type Endpoint, noEndpointSecrets } from '../records/webhook-endpoint.ts'
import type { EndpointOutcome, EndpointStore } from '../records/webhook-endpoint-store.ts'
import { changeEndpoint, type EndpointChange } from './change-endpoint.ts'
import { extractionIssues } from './check-extraction.ts'
import { type HostPolicy, headerIssues, urlProblem } from './target.ts'

/**
 * The maximum number of endpoints per tenant. Endpoints from agents' deprecated fields do not count, because the limit
 * on agents already limits them.
 */
const endpointsMax = 50

export type NewEndpoint = EndpointChange & Required<Pick<EndpointChange, 'name' | 'url' | 'events'>>

export type EndpointDeps = {
  store: EndpointStore
  hosts: HostPolicy
  clock: Clock
  endpointId: () => string
}

/** A method that refuses a request throws ResourceFault. */
export type Endpoints = {
  create(tenant: Tenant, input: NewEndpoint): Promise<Endpoint>
  list(tenant: Tenant): Promise<Endpoint[]>
  get(tenant: Tenant, id: string): Promise<Endpoint>
  change(tenant: Tenant, id: string, change: EndpointChange): Promise<Endpoint>
  /** Removes the endpoint and cancels its open deliveries. */
  remove(tenant: Tenant, id: string): Promise<void>
}

export function createEndpoints({ store, hosts, clock, endpointId }: EndpointDeps): Endpoints {
  return {
    async create(tenant, input) {
      const nowMs = clock.nowMs()
      const made = changeEndpoint(blankEndpoint(tenant, endpointId(), nowMs), () => noEndpointSecrets, input, nowMs)
      refuseIssues([...issuesOfEndpoint(input, hosts), ...made.issues])
      return written(await store.insert(made, endpointsMax))
    },
    list: (tenant) => store.list(tenant),
    get: async (tenant, id) => requireResource(await store.find(tenant, id)),
    async change(tenant, id, change) {
      refuseIssues(issuesOfEndpoint(change, hosts))
      const outcome = await store.change(tenant, id, (endpoint, secrets) => {
        const changed = changeEndpoint(endpoint, secrets, change, clock.nowMs())
        refuseIssues(changed.issues)
        return changed
      })
      return written(outcome)
    },
    async remove(tenant, id) {
      const outcome = await store.remove(tenant, id)
      if (outcome === 'unknown') throw new ResourceFault({ kind: 'not_found' })
      if (outcome === 'legacy') throw new ResourceFault({ kind: 'legacy_managed' })
    },
  }
}

/** Checks the request without the stored endpoint. */
export function issuesOfEndpoint(change: EndpointChange, hosts: HostPolicy): Issue[] {
  const problem = change.url === undefined ? null : urlProblem(change.url, hosts)
  return [
    ...(problem ? [{ path: ['url'], problem }] : []),
    ...repeatedItems(['events'], change.events ?? []),
    ...repeatedItems(['agentIds'], change.agentIds ?? []),
    ...headerIssues(
      { path: ['headers'], names: Object.keys(change.headers ?? {}) },
      { path: ['authHeaders'], names: (change.authHeaders ?? []).map(({ name }) => name) },
    ),
    ...extractionIssues(['extractionFields'], change.extractionFields ?? []),
  ]
}

function written(outcome: EndpointOutcome): Endpoint {
  switch (outcome.state) {
    case 'written':
      return outcome.endpoint
    case 'unknown':
      throw new ResourceFault({ kind: 'not_found' })
    case 'legacy':
      throw new ResourceFault({ kind: 'legacy_managed' })
    case 'agent_unknown':
      throw new ResourceFault({ kind: 'named_not_found', path: ['agentIds', outcome.at] })
    case 'conflict':
      throw new ResourceFault({ kind: 'pre_call_conflict', endpointId: outcome.endpointId })
    case 'limit_reached':
      throw new ResourceFault({ kind: 'limit_reached', resource: 'webhook endpoint', limit: endpointsMax })
  }
}
