/** Creates, lists, changes, checks and removes an organization's SIP connections. */
import { isDeepStrictEqual } from 'node:util'
import { type AttemptStore, admitTrial } from '../access/attempts.ts'
import type { CheckTrunk, OutboundAddressing, TrunkCheck } from '../ports/sip-connections.ts'
import type { Clock } from '../ports/system.ts'
import type { Tenant } from '../records/organization.ts'
import { type Issue, ResourceFault, refuseIssues, requireResource } from '../records/resource-fault.ts'
import type { ConnectionStore, ConnectionWithPasswords, OwnedConnection } from '../records/sip-connection.ts'
import type { HostPolicy } from '../webhooks/target.ts'
import { addressesIn } from './address-count.ts'

export type NewConnection = {
  name: string
  provider?: string | null
  outbound?:
    | ({
        host: string
        port: number
        transport: 'udp' | 'tcp'
        username?: string | null
        password?: string | null
      } & Partial<OutboundAddressing>)
    | null
  inbound?: { allowedAddresses?: readonly string[]; username?: string | null; password?: string | null } | null
}

type Login = { username?: string | null; password?: string | null }

/** The fields to change. Absent fields keep their values. */
export type ConnectionChange = {
  name?: string
  provider?: string | null
  outbound?: ({ host: string; port?: number; transport?: 'udp' | 'tcp' } & Login & Partial<OutboundAddressing>) | null
  inbound?: ({ allowedAddresses?: readonly string[] } & Login) | null
}

export type ConnectionDeps = {
  store: ConnectionStore
  hosts: Pick<HostPolicy, 'placeOf'>
  /** Returns true for a range of IP addresses such as 10.0.0.0/8. */
  isSubnet: (text: string) => boolean
  clock: Clock
  connectionId: () => string
  /** The limit of IP addresses for all connections together. */
  allowedAddressesMax: number
  attempts: Pick<AttemptStore, 'admit'>
  /** Null if this process sends no SIP. */
  checkTrunk: CheckTrunk | null
}

/** A method that refuses a request throws ResourceFault. */
export type SipConnectionOperations = {
  list(tenant: Tenant): Promise<OwnedConnection[]>
  create(tenant: Tenant, settings: NewConnection): Promise<OwnedConnection>
  change(tenant: Tenant, id: string, change: ConnectionChange): Promise<OwnedConnection>
  remove(tenant: Tenant, id: string): Promise<void>
  /** Asks the connection's trunk now whether it answers. */
  check(tenant: Tenant, id: string): Promise<TrunkCheck & { checkedAtMs: number }>
}

/** The limit for connections, fixed in the contract. */
const connectionsMax = 20
/**
 * The shortest allowed prefixes, as in 172.16.0.0/16 and in a telephone company's whole IPv6 range. Without a login,
 * only the IP address identifies the caller, so 0.0.0.0/0 would accept calls from any address, including other
 * organizations' addresses.
 */
const prefixLeast = { ipv4: 16, ipv6: 32 }

export function createSipConnections(deps: ConnectionDeps): SipConnectionOperations {
  const { store, clock, connectionId } = deps
  return {
    list: (tenant) => store.list(tenant),
    async create(tenant, settings) {
      refuseIssues([...issuesOf(settings, deps), ...issuesOfWidth(settings, deps)])
      const nowMs = clock.nowMs()
      const { connection, passwords } = connected(settings, {
        ...tenant,
        id: connectionId(),
        ...{ status: 'unverified', numbers: 0, createdAtMs: nowMs, updatedAtMs: nowMs },
      })
      const check = (others: readonly string[]) => refuseIssues(issuesOfCount(settings, others, deps))
      const outcome = await store.insert(connection, passwords, connectionsMax, check)
      if (outcome === 'name_taken') refuseName()
      if (outcome === 'limit_reached')
        throw new ResourceFault({ kind: 'limit_reached', resource: 'SIP connection', limit: connectionsMax })
      return connection
    },
    async change(tenant, id, change) {
      const outcome = await store.change(tenant, id, (stored, others) => {
        if (Object.keys(change).length === 0) return stored
        const settings = changed(stored, change)
        // IP address ranges that are already stored are not checked again for width and number, so the organization can
        // keep them.
        refuseIssues([
          ...issuesOf(settings, deps),
          ...issuesOfWidth(change, deps),
          ...issuesOfCount(change, others, deps),
          ...issuesOfMove(stored, change, settings),
        ])
        const { connection, passwords } = connected(settings, { ...stored.connection, updatedAtMs: clock.nowMs() })
        const isSame = isSameWay(stored, { connection, passwords })
        return { connection: isSame ? connection : { ...connection, status: 'unverified' }, passwords }
      })
      return outcome === 'name_taken' ? refuseName() : requireResource(outcome)
    },
    async remove(tenant, id) {
      const outcome = await store.remove(tenant, id)
      if (outcome === 'in_use') throw new ResourceFault({ kind: 'sip_connection_in_use' })
      if (outcome === 'not_found') throw new ResourceFault({ kind: 'not_found' })
    },
    async check(tenant, id) {
      const connection = requireResource((await store.list(tenant)).find((each) => each.id === id) ?? null)
      const result = await checked(connection, deps)
      return { ...result, checkedAtMs: clock.nowMs() }
    },
  }
}

/** A test connection's calls are simulated, and so is its trunk's answer. */
const simulatedCheck: TrunkCheck = { sipCode: 200, roundTripMs: 0, error: null }

/** Checks the trunk. A check counts against the organization's limit only if it sends OPTIONS to the trunk. */
async function checked(connection: OwnedConnection, deps: ConnectionDeps): Promise<TrunkCheck> {
  const { organizationId, id, test, outbound } = connection
  const { checkTrunk } = deps
  if (outbound === null) refuseIssues([{ path: ['outbound'], problem: { kind: 'outbound_missing' } }])
  if (test) return simulatedCheck
  if (checkTrunk === null)
    throw new ResourceFault({
      kind: 'invalid',
      issues: [{ path: ['outbound'], problem: { kind: 'sip_port_missing' } }],
    })
  await admitTrial(deps, 'sip_connection', organizationId)
  return requireResource(await checkTrunk(id))
}

function refuseName(): never {
  const problem = { kind: 'connection_name_taken' as const }
  throw new ResourceFault({ kind: 'invalid', issues: [{ path: ['name'], problem }] })
}

type ConnectionState = Omit<OwnedConnection, 'name' | 'provider' | 'outbound' | 'inbound'>

function connected(settings: NewConnection, state: ConnectionState): ConnectionWithPasswords {
  const { name, provider = null, outbound = null, inbound = null } = settings
  const passwords = { outbound: outbound?.password ?? null, inbound: inbound?.password ?? null }
  return {
    connection: {
      ...state,
      name,
      provider,
      outbound: outbound && {
        host: outbound.host,
        port: outbound.port,
        transport: outbound.transport,
        username: outbound.username ?? null,
        hasPassword: passwords.outbound !== null,
        ...addressingOf(outbound),
      },
      inbound: inbound && {
        allowedAddresses: inbound.allowedAddresses ?? [],
        username: inbound.username ?? null,
        hasPassword: passwords.inbound !== null,
      },
    },
    passwords,
  }
}

/** Fills in the default addressing options. They suit most trunks. */
const addressingOf = ({
  userPhone = false,
  identity = 'from',
  register = false,
}: Partial<OutboundAddressing>): OutboundAddressing => ({
  userPhone,
  identity,
  register,
})

function changed({ connection, passwords }: ConnectionWithPasswords, change: ConnectionChange): NewConnection {
  const { name = connection.name, provider = connection.provider } = change
  const outbound = connection.outbound && { ...connection.outbound, password: passwords.outbound }
  const inbound = connection.inbound && { ...connection.inbound, password: passwords.inbound }
  return {
    name,
    provider,
    outbound: change.outbound
      ? { port: 5060, transport: 'udp', ...outbound, ...change.outbound, ...withoutLogin(change.outbound) }
      : remainingSide(change.outbound, outbound),
    inbound: change.inbound
      ? { ...inbound, ...change.inbound, ...withoutLogin(change.inbound) }
      : remainingSide(change.inbound, inbound),
  }
}

/**
 * Returns the connection's inbound or outbound side if the change does not set it: the stored side if the field is
 * absent, or null if the change removes the side.
 */
const remainingSide = <Side>(change: null | undefined, side: Side) => (change === null ? null : side)

/** Removes the password if a change removes the user name, because a login needs a name. */
const withoutLogin = ({ username, password }: Login) =>
  username === null && password === undefined ? { password: null } : {}

/**
 * Refuses a new host together with the stored password. The new host would receive digests of the password, and could
 * guess a weak password from them.
 */
function issuesOfMove(
  { connection }: ConnectionWithPasswords,
  change: ConnectionChange,
  settings: NewConnection,
): Issue[] {
  const [before, after] = [connection.outbound, settings.outbound]
  if (!before || !after || before.host.toLowerCase() === after.host.toLowerCase()) return []
  const isPasswordReused = change.outbound?.password === undefined && (after.password ?? null) !== null
  return isPasswordReused ? [{ path: ['outbound', 'password'], problem: { kind: 'password_of_other_host' } }] : []
}

/**
 * Returns true if calls still go out to the same host with the same login. In this case the connection keeps its
 * status.
 */
function isSameWay(before: ConnectionWithPasswords, after: ConnectionWithPasswords): boolean {
  const way = ({ connection: { outbound }, passwords }: ConnectionWithPasswords) =>
    outbound && { ...outbound, password: passwords.outbound }
  return isDeepStrictEqual(way(before), way(after))
}

function issuesOfWidth({ inbound }: Pick<ConnectionChange, 'inbound'>, { isSubnet }: ConnectionDeps): Issue[] {
  return (inbound?.allowedAddresses ?? []).flatMap((range, at): Issue[] => {
    const least = range.includes(':') ? prefixLeast.ipv6 : prefixLeast.ipv4
    // Another check refuses a text that is not an IP address range.
    const isWide = isSubnet(range) && Number(range.slice(range.indexOf('/') + 1)) < least
    return isWide ? [{ path: ['inbound', 'allowedAddresses', at], problem: { kind: 'range_too_wide' } }] : []
  })
}

function issuesOfCount(
  { inbound }: Pick<ConnectionChange, 'inbound'>,
  others: readonly string[],
  { isSubnet, allowedAddressesMax }: ConnectionDeps,
): Issue[] {
  const ranges = inbound?.allowedAddresses?.filter(isSubnet) ?? []
  if (ranges.length === 0 || addressesIn([...ranges, ...others]) <= allowedAddressesMax) return []
  return [{ path: ['inbound', 'allowedAddresses'], problem: { kind: 'addresses_too_many' } }]
}

/** Resolvers read a name that ends in a number as an IP address: 127.1, 0x7f.1 and 2130706433 are all 127.0.0.1. */
const endsInNumber = /(^|\.)(\d+|0x[0-9a-f]*)$/i

function mayBeCalled(host: string, hosts: ConnectionDeps['hosts']): boolean {
  const place = hosts.placeOf(/(^|\.)localhost$/i.test(host) ? '127.0.0.1' : host)
  return place !== 'refused' && !(place === 'name' && endsInNumber.test(host))
}

function issuesOf({ outbound = null, inbound = null }: NewConnection, { hosts, isSubnet }: ConnectionDeps): Issue[] {
  if (outbound === null && inbound === null) return [{ path: ['inbound'], problem: { kind: 'side_missing' } }]
  const issues: Issue[] = []
  if (outbound !== null && !mayBeCalled(outbound.host, hosts))
    issues.push({ path: ['outbound', 'host'], problem: { kind: 'host_not_public' } })
  if (outbound?.register === true && (outbound.username ?? null) === null)
    issues.push({ path: ['outbound', 'username'], problem: { kind: 'login_to_register' } })
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
