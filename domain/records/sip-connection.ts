/** An organization's connection to a SIP trunk or to a SIP telephone exchange. */
import type { OutboundAddressing } from '../ports/sip-connections.ts'
import type { Tenant } from './organization.ts'

export type OwnedConnection = Tenant & {
  /** An id such as `sip_…`. */
  id: string
  name: string
  provider: string | null
  /** Null if no calls go out over the connection. */
  outbound:
    | ({
        host: string
        port: number
        transport: 'udp' | 'tcp'
        username: string | null
        hasPassword: boolean
      } & OutboundAddressing)
    | null
  /**
   * Null if no calls come in over the connection. Calls are accepted from these IP address ranges, or with the login.
   */
  inbound: { allowedAddresses: readonly string[]; username: string | null; hasPassword: boolean } | null
  /**
   * `unverified`: the trunk has not answered yet. `failing`: the trunk refused or did not answer three requests in a
   * row. Calls and OPTIONS requests are counted together, registrations separately.
   */
  status: 'unverified' | 'ready' | 'failing'
  /** The count of the connection's numbers. */
  numbers: number
  createdAtMs: number
  updatedAtMs: number
}

export type ConnectionPasswords = { outbound: string | null; inbound: string | null }

export type ConnectionWithPasswords = { connection: OwnedConnection; passwords: ConnectionPasswords }

/** Makes the changed connection. `others` are the IP address ranges in the tenant's other connections. */
export type ChangeConnection = (stored: ConnectionWithPasswords, others: readonly string[]) => ConnectionWithPasswords

/** Every method reads and writes one tenant's rows. A malformed id is treated as unknown. */
export interface ConnectionStore {
  /** Lists the connections, newest first. */
  list(tenant: Tenant): Promise<OwnedConnection[]>
  /** `check` receives the IP address ranges in the tenant's other connections, and throws to refuse the connection. */
  insert(
    connection: OwnedConnection,
    passwords: ConnectionPasswords,
    connectionsMax: number,
    check: (others: readonly string[]) => void,
  ): Promise<'inserted' | 'name_taken' | 'limit_reached'>
  /**
   * Reads the connection, calls `change` and writes the result. `change` throws to refuse the change. Resolves with
   * null if the tenant has no such connection.
   */
  change(tenant: Tenant, id: string, change: ChangeConnection): Promise<OwnedConnection | 'name_taken' | null>
  remove(tenant: Tenant, id: string): Promise<'removed' | 'in_use' | 'not_found'>
}
