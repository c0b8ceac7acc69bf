/** Reads SIP connections from their rows, and opens and seals their passwords. */
import type { OutboundAddressing } from '../../domain/ports/sip-connections.ts'
import type { Tenant } from '../../domain/records/organization.ts'
import type { ConnectionPasswords, OwnedConnection } from '../../domain/records/sip-connection.ts'
import { uniqueId } from '../../runtime/timing/clock.ts'
import type { Tx } from '../postgres/connect.ts'
import type { SealedTable } from '../sealing/reseal.ts'
import type { Sealed, Sealer } from '../sealing/sealed.ts'

export type ConnectionRow = Tenant & {
  id: string
  name: string
  provider: string | null
  outboundHost: string | null
  outboundPort: number
  outboundTransport: 'udp' | 'tcp'
  outboundUsername: string | null
  outboundUserPhone: boolean
  outboundIdentity: OutboundAddressing['identity']
  outboundRegister: boolean
  inboundAddresses: string[] | null
  inboundUsername: string | null
  status: OwnedConnection['status']
  numbers: number
  createdAt: Date
  updatedAt: Date
} & SecretColumns

type Columns = { secretsId: string; bytes: Buffer; sealedBy: string }
export type SecretColumns = Columns | { [Name in keyof Columns]: null }

export const connectionColumns = (tx: Tx) => tx`
  c.organization_id as "organizationId", c.test, c.id, c.name, c.provider, c.outbound_host as "outboundHost",
  c.outbound_port as "outboundPort", c.outbound_transport as "outboundTransport", c.outbound_username as "outboundUsername",
  c.outbound_user_phone as "outboundUserPhone", c.outbound_identity as "outboundIdentity", c.outbound_register as "outboundRegister",
  c.inbound_addresses as "inboundAddresses", c.inbound_username as "inboundUsername", c.secrets_id as "secretsId",
  c.sealed as bytes, c.sealed_by as "sealedBy", c.status, c.created_at as "createdAt", c.updated_at as "updatedAt",
  (select count(*)::int from phone_numbers n where n.organization_id = c.organization_id and n.test = c.test
    and n.sip_connection_id = c.id) as numbers`

export function ownedConnection(row: ConnectionRow, passwords: ConnectionPasswords): OwnedConnection {
  const { organizationId, test, id, name, provider, status, numbers } = row
  const { outboundHost: host, outboundPort: port, outboundTransport: transport } = row
  return {
    ...{ organizationId, test, id, name, provider, status, numbers },
    outbound:
      host === null
        ? null
        : { host, port, transport, ...loginOf(row.outboundUsername, passwords.outbound), ...addressingOf(row) },
    inbound: row.inboundAddresses && {
      allowedAddresses: row.inboundAddresses,
      ...loginOf(row.inboundUsername, passwords.inbound),
    },
    createdAtMs: row.createdAt.getTime(),
    updatedAtMs: row.updatedAt.getTime(),
  }
}

export const addressingOf = (row: ConnectionRow): OutboundAddressing => ({
  userPhone: row.outboundUserPhone,
  identity: row.outboundIdentity,
  register: row.outboundRegister,
})

const loginOf = (username: string | null, password: string | null) => ({ username, hasPassword: password !== null })

export function sealPasswords(
  sealer: () => Sealer,
  of: Pick<OwnedConnection, 'organizationId' | 'id'>,
  passwords: ConnectionPasswords,
): SecretColumns {
  if (passwords.outbound === null && passwords.inbound === null) return { secretsId: null, bytes: null, sealedBy: null }
  const secretsId = `secret_${uniqueId()}`
  return { secretsId, ...sealer().seal(JSON.stringify(passwords), placeOf({ ...of, secretsId })) }
}

export function openPasswords(sealer: () => Sealer, row: ConnectionRow): ConnectionPasswords {
  const { secretsId, bytes, sealedBy } = row
  if (bytes === null) return { outbound: null, inbound: null }
  return JSON.parse(sealer().open({ bytes, sealedBy }, placeOf({ ...row, secretsId }))) as ConnectionPasswords
}

type Place = { organizationId: string; id: string; secretsId: string }

/**
 * Names the row to which sealed passwords are bound. Their id serves as a version: if older passwords are put back into
 * the row, they cannot be decrypted.
 */
function placeOf({ organizationId, id, secretsId }: Place): string[] {
  return ['SIP connection', organizationId, id, secretsId]
}

type SealedRow = Sealed & Place & { test: boolean }

/** Lets reseal.ts seal the connections' passwords again after a change of the master key. */
export const sealedConnections: SealedTable<SealedRow> = {
  table: 'sip_connections',
  start: { organizationId: '', test: false, id: '', secretsId: '', bytes: Buffer.alloc(0), sealedBy: '' },
  placeOf,
  read: (tx, after, names, rowsMax) => tx<SealedRow[]>`
    select organization_id as "organizationId", test, id, secrets_id as "secretsId", sealed as bytes, sealed_by as "sealedBy"
    from sip_connections
    where (organization_id, test, id) > (${after.organizationId}, ${after.test}, ${after.id})
      and sealed_by = any(${names}::text[])
    order by organization_id, test, id limit ${rowsMax} for update skip locked`,
  write: (tx, { organizationId, test, id }, { bytes, sealedBy }) => tx`
    update sip_connections set sealed = ${bytes}, sealed_by = ${sealedBy}
    where organization_id = ${organizationId} and test = ${test} and id = ${id}`,
}
