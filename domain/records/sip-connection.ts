/** A connection with a trunk or an exchange that speaks SIP, as an organization has made it. */
import type { OutboundAddressing } from '../ports/sip-connections.ts'
import type { Tenant } from './organization.ts'

export type OwnedConnection = Tenant & {
  /** `sip_…` */
  id: string
  name: string
  provider: string | null
  /** Null: no calls go out over it. */
  outbound:
    | ({
        host: string
        port: number
        transport: 'udp' | 'tcp'
        username: string | null
        hasPassword: boolean
      } & OutboundAddressing)
    | null
  /** Null: no calls come in over it. Calls come from these ranges of addresses, or with the login. */
  inbound: { allowedAddresses: readonly string[]; username: string | null; hasPassword: boolean } | null
  /** `unverified`: the other side has not answered yet. `failing`: the other side refused or kept silent three times in a row: to calls and OPTIONS, or to registrations. */
  status: 'unverified' | 'ready' | 'failing'
  /** The numbers that use it. */
  numbers: number
  createdAtMs: number
  updatedAtMs: number
}

export type ConnectionPasswords = { outbound: string | null; inbound: string | null }

export type ConnectionWithPasswords = { connection: OwnedConnection; passwords: ConnectionPasswords }

export type ChangeConnection = (stored: ConnectionWithPasswords) => ConnectionWithPasswords

/** Every call reads and writes rows of this tenant alone. An id of another form is an unknown one. */
export interface ConnectionStore {
  /** Newest first. */
  list(tenant: Tenant): Promise<OwnedConnection[]>
  insert(
    connection: OwnedConnection,
    passwords: ConnectionPasswords,
    connectionsMax: number,
  ): Promise<'inserted' | 'name_taken' | 'limit_reached'>
  /** `change` throws where the change is refused. Null: the tenant has no such connection. */
  change(tenant: Tenant, id: string, change: ChangeConnection): Promise<OwnedConnection | 'name_taken' | null>
  remove(tenant: Tenant, id: string): Promise<'removed' | 'in_use' | 'not_found'>
}
