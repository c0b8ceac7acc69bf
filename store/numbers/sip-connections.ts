/**
 * Organizations' SIP connections. The administration reads or writes one organization's live or test rows. The trunk
 * line searches all live connections, because a SIP message names no organization.
 */
import type { SipConnection, SipConnections } from '../../domain/ports/sip-connections.ts'
import type { Clock } from '../../domain/ports/system.ts'
import type { Tenant } from '../../domain/records/organization.ts'
import type { ChangeConnection, ConnectionStore, OwnedConnection } from '../../domain/records/sip-connection.ts'
import type { Tx } from '../postgres/connect.ts'
import { arrayLiteral, storable } from '../postgres/row-values.ts'
import type { Tenancy, Worlds } from '../postgres/tenant.ts'
import { isUniqueViolation } from '../postgres/unique-violation.ts'
import type { Sealer } from '../sealing/sealed.ts'
import { lockOrganization } from './number-rows.ts'
import {
  addressingOf,
  type ConnectionRow,
  connectionColumns,
  openPasswords,
  ownedConnection,
  sealPasswords,
} from './sip-connection-rows.ts'

const idForm = /^sip_[0-9A-Za-z]{22}$/
/**
 * The maximum number of connections found for one IP address. Several organizations may have the same trunk provider,
 * and so the same IP address.
 */
const alikeMax = 64
const outgoingMax = 1_000
/** After this many refused registrations or missing answers in a row, the connection's status is failing. */
const silencesMax = 3

export function createConnectionStore(worlds: Worlds, sealer: () => Sealer): ConnectionStore {
  return {
    list: (tenant) =>
      worlds.asTenant(tenant, async (tx) => {
        const rows = await tx<ConnectionRow[]>`
          select ${connectionColumns(tx)} from sip_connections c ${ofTenant(tx, tenant)} order by created_at desc, id desc`
        return rows.map((row) => ownedConnection(row, openPasswords(sealer, row)))
      }),
    async insert(connection, passwords, connectionsMax, check) {
      try {
        return await worlds.asTenant(connection, async (tx) => {
          // The lock serializes inserts. Otherwise two transactions could both see room for one more connection.
          await lockOrganization(tx, connection)
          const own = await tx`select from sip_connections c ${ofTenant(tx, connection)}`
          if (own.length >= connectionsMax) return 'limit_reached'
          check(await rangesBeside(tx, connection))
          await insert(tx, connection, sealPasswords(sealer, connection, passwords))
          return 'inserted'
        })
      } catch (error) {
        if (isUniqueViolation(error, 'sip_connections_name')) return 'name_taken'
        throw error
      }
    },
    async change(tenant, id, change) {
      if (!idForm.test(id)) return null
      try {
        return await worlds.asTenant(tenant, (tx) => changeOne(tx, sealer, tenant, id, change))
      } catch (error) {
        if (isUniqueViolation(error, 'sip_connections_name')) return 'name_taken'
        throw error
      }
    },
    async remove(tenant, id) {
      if (!idForm.test(id)) return 'not_found'
      return worlds.asTenant(tenant, async (tx) => {
        const own = await tx`select from sip_connections c ${ofTenant(tx, tenant)} and id = ${id} for update`
        if (own.length === 0) return 'not_found'
        const { organizationId, test } = tenant
        const numbers = await tx`
          select from phone_numbers
          where organization_id = ${organizationId} and test = ${test} and sip_connection_id = ${id} limit 1`
        if (numbers.length > 0) return 'in_use'
        await tx`delete from sip_connections where organization_id = ${organizationId} and test = ${test} and id = ${id}`
        return 'removed'
      })
    },
  }
}

/** Returns true if the connection exists. Locks it, so no other transaction removes it until this transaction ends. */
export async function hasConnection(tx: Tx, tenant: Tenant, id: string | null): Promise<boolean> {
  if (id === null || !idForm.test(id)) return false
  const rows = await tx`select from sip_connections c ${ofTenant(tx, tenant)} and id = ${id} for share`
  return rows.length > 0
}

export function createSipConnections(
  { asOperator }: Pick<Tenancy, 'asOperator'>,
  sealer: () => Sealer,
  clock: Clock,
): SipConnections {
  const read = (condition: (tx: Tx) => ReturnType<typeof connectionColumns>) =>
    asOperator(async (tx) => {
      const rows = await tx<ConnectionRow[]>`
        select ${connectionColumns(tx)} from sip_connections c where not c.test and ${condition(tx)}`
      return rows.map((row) => connectionOf(sealer, row))
    })
  return {
    find: async (id) => (await read((tx) => tx`c.id = ${id}`))[0] ?? null,
    ofAddress: (address, dialed, registered) =>
      read(
        (tx) => tx`
          c.inbound_addresses is not null
            and (${plain(address)}::inet <<= any(c.inbound_ranges) or c.id = any(${arrayLiteral(registered)}::text[]))
          ${order(tx, dialed)}`,
      ),
    hasAddress: (id, address) =>
      asOperator(async (tx) => {
        const rows = await tx`
          select from sip_connections c
          where not c.test and c.id = ${id} and ${plain(address)}::inet <<= any(c.inbound_ranges)`
        return rows.length > 0
      }),
    ofUser: (username, dialed) => read((tx) => tx`c.inbound_username = ${storable(username)} ${order(tx, dialed)}`),
    wantsLogin: (dialed, id) =>
      asOperator(async (tx) => {
        const rows = await tx`
          select from (
            select c.id, c.inbound_username from phone_numbers n
            join sip_connections c on c.organization_id = n.organization_id and c.test = n.test and c.id = n.sip_connection_id
            where ${isAlike(tx, dialed)} and ${isMeant(tx, dialed)}
              and (c.id = ${id} or c.inbound_username is not null)
            order by n.created_at, n.id limit 1) oldest
          where oldest.id <> ${id}`
        return rows.length > 0
      }),
    probed: () =>
      read(
        (tx) => tx`
          c.outbound_host is not null and not c.outbound_register order by c.updated_at desc limit ${outgoingMax}`,
      ),
    registering: () =>
      read((tx) => tx`c.outbound_register and c.outbound_host is not null order by c.created_at limit ${outgoingMax}`),
    ...createStatusNotes(asOperator, clock),
  }
}

/**
 * Records calls from the trunk, and whether the trunk answers our requests. The connection's status depends on both.
 */
function createStatusNotes(
  asOperator: Tenancy['asOperator'],
  clock: Clock,
): Pick<SipConnections, 'noteCall' | 'noteAnswer' | 'noteRegistration'> {
  return {
    noteCall: (id) =>
      asOperator(async (tx) => {
        await tx`
          update sip_connections set status = 'ready', updated_at = ${new Date(clock.nowMs())}
          where id = ${id} and not test and status = 'unverified'`
      }),
    noteAnswer: (id, takesCalls) =>
      asOperator(async (tx) => {
        const now = new Date(clock.nowMs())
        if (takesCalls)
          await tx`
            update sip_connections set silences = 0, updated_at = ${now},
              status = case when registration_refusals = 0 then 'ready' else status end
            where id = ${id} and not test and (silences > 0 or (status <> 'ready' and registration_refusals = 0))`
        else
          await tx`
            update sip_connections set silences = silences + 1,
              status = case when silences + 1 >= ${silencesMax} then 'failing' else status end
            where id = ${id} and not test and silences < ${silencesMax}`
      }),
    noteRegistration: (id, isAccepted) =>
      asOperator(async (tx) => {
        const now = new Date(clock.nowMs())
        if (isAccepted)
          await tx`
            update sip_connections set status = 'ready', silences = 0, registration_refusals = 0, updated_at = ${now}
            where id = ${id} and not test and (status <> 'ready' or silences > 0 or registration_refusals > 0)`
        else
          await tx`
            update sip_connections set registration_refusals = registration_refusals + 1,
              status = case when registration_refusals + 1 >= ${silencesMax} then 'failing' else status end
            where id = ${id} and not test and registration_refusals < ${silencesMax}`
      }),
  }
}

/** Orders the connections: first the connections with the dialled number, the earliest import first. */
function order(tx: Tx, dialed: string) {
  return tx`
    order by (
      select array[case when ${isMeant(tx, dialed)} then 0 else 1 end, extract(epoch from n.created_at)] as place
      from phone_numbers n
      where n.organization_id = c.organization_id and n.sip_connection_id = c.id and ${isAlike(tx, dialed)}
      order by place limit 1), c.created_at, c.id limit ${alikeMax}`
}

/**
 * Returns SQL: the number `n` is the dialled number. If the dialled text has no +, only the last digits are compared,
 * because the country's dialling prefixes are unknown here.
 */
function isMeant(tx: Tx, dialed: string) {
  const digits = digitsOf(dialed)
  if (dialed.trim().startsWith('+')) return tx`n.e164 = ${`+${digits}`}`
  const national = digits.replace(/^0+/, '')
  return tx`${national.length >= digitsCompared} and right(n.e164, ${national.length}::int) = ${national}`
}

/**
 * SQL: the last digits agree, and the operator has approved the import. A number's international and national forms
 * have the same last digits. The SQL text must equal the indexed expression.
 */
const isAlike = (tx: Tx, dialed: string) =>
  tx`n.source = 'sip_trunk' and not n.test and not n.awaits_approval and right(n.e164, 6) = ${digitsOf(dialed).slice(-digitsCompared)}`

const digitsOf = (dialed: string) => dialed.replace(/\D/g, '')

const digitsCompared = 6

/** Converts ::ffff:192.0.2.1 to 192.0.2.1, because an IPv6 socket reports an IPv4 sender in the first form. */
const plain = (address: string) => address.replace(/^::ffff:(?=\d+\.)/, '')

const ofTenant = (tx: Tx, { organizationId, test }: Tenant) =>
  tx`where c.organization_id = ${organizationId} and c.test = ${test}`

function connectionOf(sealer: () => Sealer, row: ConnectionRow): SipConnection {
  const passwords = openPasswords(sealer, row)
  const { id, organizationId, outboundHost: host, outboundPort: port, outboundTransport: transport } = row
  return {
    id,
    organizationId,
    outbound:
      host === null
        ? null
        : { host, port, transport, username: row.outboundUsername, password: passwords.outbound, ...addressingOf(row) },
    inbound: row.inboundAddresses === null ? null : { username: row.inboundUsername, password: passwords.inbound },
  }
}

/** Returns the IP address ranges in the tenant's other connections. */
async function rangesBeside(tx: Tx, { id, ...tenant }: Tenant & { id: string }): Promise<string[]> {
  const rows = await tx<{ ranges: string[] | null }[]>`
    select inbound_addresses as ranges from sip_connections c ${ofTenant(tx, tenant)} and id <> ${id}`
  return rows.flatMap(({ ranges }) => ranges ?? [])
}

async function insert(tx: Tx, connection: OwnedConnection, secrets: ReturnType<typeof sealPasswords>): Promise<void> {
  const { organizationId, test, id, name, provider, outbound, inbound, status } = connection
  const addresses = inbound === null ? null : JSON.stringify(inbound.allowedAddresses)
  await tx`
    insert into sip_connections (organization_id, test, id, name, provider, outbound_host, outbound_port,
      outbound_transport, outbound_username, outbound_user_phone, outbound_identity, outbound_register, inbound_addresses, inbound_ranges, inbound_username, secrets_id, sealed,
      sealed_by, status, created_at, updated_at)
    values (${organizationId}, ${test}, ${id}, ${storable(name)}, ${provider && storable(provider)},
      ${outbound?.host ?? null}, ${outbound?.port ?? null}, ${outbound?.transport ?? null},
      ${outbound?.username ?? null}, ${outbound?.userPhone ?? false}, ${outbound?.identity ?? 'from'},
      ${outbound?.register ?? false}, ${addresses}::text::json,
      array(select value::inet from json_array_elements_text(coalesce(${addresses}::text::json, '[]'::json))),
      ${inbound?.username ?? null}, ${secrets.secretsId}, ${secrets.bytes}, ${secrets.sealedBy}, ${status},
      ${new Date(connection.createdAtMs)}, ${new Date(connection.updatedAtMs)})`
}

async function changeOne(
  tx: Tx,
  sealer: () => Sealer,
  tenant: Tenant,
  id: string,
  change: ChangeConnection,
): Promise<OwnedConnection | null> {
  await lockOrganization(tx, tenant)
  const [row] = await tx<ConnectionRow[]>`
    select ${connectionColumns(tx)} from sip_connections c ${ofTenant(tx, tenant)} and id = ${id} for update of c`
  if (row === undefined) return null
  const passwords = openPasswords(sealer, row)
  const stored = { connection: ownedConnection(row, passwords), passwords }
  const changed = change(stored, await rangesBeside(tx, stored.connection))
  if (changed !== stored)
    await update(tx, changed.connection, sealPasswords(sealer, changed.connection, changed.passwords))
  return changed.connection
}

async function update(tx: Tx, connection: OwnedConnection, secrets: ReturnType<typeof sealPasswords>): Promise<void> {
  const { organizationId, test, id, name, provider, outbound, inbound, status } = connection
  const addresses = inbound === null ? null : JSON.stringify(inbound.allowedAddresses)
  await tx`
    update sip_connections set name = ${storable(name)}, provider = ${provider && storable(provider)},
      outbound_host = ${outbound?.host ?? null}, outbound_port = ${outbound?.port ?? null},
      outbound_transport = ${outbound?.transport ?? null}, outbound_username = ${outbound?.username ?? null},
      outbound_user_phone = ${outbound?.userPhone ?? false}, outbound_identity = ${outbound?.identity ?? 'from'},
      outbound_register = ${outbound?.register ?? false},
      inbound_addresses = ${addresses}::text::json,
      inbound_ranges = array(select value::inet from json_array_elements_text(coalesce(${addresses}::text::json, '[]'::json))),
      inbound_username = ${inbound?.username ?? null}, secrets_id = ${secrets.secretsId}, sealed = ${secrets.bytes},
      sealed_by = ${secrets.sealedBy}, status = ${status},
      silences = case when ${status} = 'unverified' then 0 else silences end,
      registration_refusals = case when ${status} = 'unverified' then 0 else registration_refusals end,
      updated_at = ${new Date(connection.updatedAtMs)}
    where organization_id = ${organizationId} and test = ${test} and id = ${id}`
}
