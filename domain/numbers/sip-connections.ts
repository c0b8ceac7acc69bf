/** The SIP connections of an organization: how they are made, listed and removed. */
import type { Tenant } from '../access/organization.ts'
import type { Clock } from '../ports/system.ts'
import { type Issue, ResourceFault, refuseIssues } from '../resource-fault.ts'
import type { HostPolicy } from '../webhooks/target.ts'
import type { ConnectionStore, OwnedConnection } from './sip-connection.ts'

export type NewConnection = {
  name: string
  provider?: string | null
  outbound?: {
    host: string
    port: number
    transport: 'udp' | 'tcp'
    username?: string | null
    password?: string | null
  } | null
  inbound?: { allowedAddresses?: readonly string[]; username?: string | null; password?: string | null } | null
}

export type ConnectionDeps = {
  store: ConnectionStore
  hosts: Pick<HostPolicy, 'placeOf'>
  /** Whether a text is a range of addresses such as 10.0.0.0/8. */
  isSubnet: (text: string) => boolean
  clock: Clock
  connectionId: () => string
}

/** Every operation throws ResourceFault. */
export type SipConnectionOperations = {
  list(tenant: Tenant): Promise<OwnedConnection[]>
  create(tenant: Tenant, wanted: NewConnection): Promise<OwnedConnection>
  remove(tenant: Tenant, id: string): Promise<void>
}

/** Part of the contract. */
const connectionsMax = 20

export function createSipConnections(deps: ConnectionDeps): SipConnectionOperations {
  const { store, clock, connectionId } = deps
  return {
    list: (tenant) => store.list(tenant),
    async create(tenant, wanted) {
      refuseIssues(issuesOf(wanted, deps))
      const nowMs = clock.nowMs()
      const { name, provider = null, outbound = null, inbound = null } = wanted
      const connection: OwnedConnection = {
        ...tenant,
        id: connectionId(),
        name,
        provider,
        outbound: outbound && {
          host: outbound.host,
          port: outbound.port,
          transport: outbound.transport,
          username: outbound.username ?? null,
          hasPassword: (outbound.password ?? null) !== null,
        },
        inbound: inbound && {
          allowedAddresses: inbound.allowedAddresses ?? [],
          username: inbound.username ?? null,
          hasPassword: (inbound.password ?? null) !== null,
        },
        ...{ status: 'unverified', numbers: 0, createdAtMs: nowMs, updatedAtMs: nowMs },
      }
      const passwords = { outbound: outbound?.password ?? null, inbound: inbound?.password ?? null }
      const outcome = await store.insert(connection, passwords, connectionsMax)
      if (outcome === 'name_taken') refuseIssues([{ path: ['name'], problem: { kind: 'connection_name_taken' } }])
      if (outcome === 'limit_reached')
        throw new ResourceFault({ kind: 'limit_reached', resource: 'SIP connection', limit: connectionsMax })
      return connection
    },
    async remove(tenant, id) {
      const outcome = await store.remove(tenant, id)
      if (outcome === 'in_use') throw new ResourceFault({ kind: 'sip_connection_in_use' })
      if (outcome === 'not_found') throw new ResourceFault({ kind: 'not_found' })
    },
  }
}

function issuesOf({ outbound = null, inbound = null }: NewConnection, { hosts, isSubnet }: ConnectionDeps): Issue[] {
  if (outbound === null && inbound === null) return [{ path: ['inbound'], problem: { kind: 'side_missing' } }]
  const issues: Issue[] = []
  if (outbound !== null && hosts.placeOf(outbound.host) === 'refused')
    issues.push({ path: ['outbound', 'host'], problem: { kind: 'host_not_public' } })
  for (const [side, login] of [
    ['outbound', outbound],
    ['inbound', inbound],
  ] as const)
    if (login !== null && ((login.username ?? null) === null) !== ((login.password ?? null) === null))
      issues.push({ path: [side, 'password'], problem: { kind: 'login_incomplete' } })
  if (inbound === null) return issues
  const { allowedAddresses = [], username = null } = inbound
  if (allowedAddresses.length === 0 && username === null)
    issues.push({ path: ['inbound', 'allowedAddresses'], problem: { kind: 'source_missing' } })
  for (const [at, text] of allowedAddresses.entries())
    if (!isSubnet(text))
      issues.push({ path: ['inbound', 'allowedAddresses', at], problem: { kind: 'range_malformed' } })
  return issues
}
