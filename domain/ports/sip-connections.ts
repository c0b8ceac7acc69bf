/** Finds SIP trunks across all organizations, because a SIP message does not contain the organization. */

export type SipConnection = {
  /** An id such as `sip_…`. */
  id: string
  organizationId: string
  /** Null if no calls go out over the trunk. */
  outbound: SipOutbound | null
  /** Null if no calls come in over the trunk. */
  inbound: { username: string | null; password: string | null } | null
}

export type SipOutbound = {
  host: string
  port: number
  transport: 'udp' | 'tcp'
  username: string | null
  password: string | null
} & OutboundAddressing

/** Options for the SIP URIs and headers in outbound calls. */
export type OutboundAddressing = {
  /** If true, the called SIP URI contains `user=phone`, which marks it as a telephone number. */
  userPhone: boolean
  /**
   * The header with the caller's number. With `preferred` and `asserted`, the number is in P-Preferred-Identity or
   * P-Asserted-Identity, and From contains the login.
   */
  identity: 'from' | 'preferred' | 'asserted'
  /** True if this server must register (REGISTER) so that the trunk has an address for inbound calls. */
  register: boolean
}

/** The result of an OPTIONS request to a trunk. */
export type TrunkCheck = {
  /** The SIP response code. Null if no response arrived. */
  sipCode: number | null
  /** The time from the request to its final response. */
  roundTripMs: number | null
  error: 'timeout' | 'unreachable' | 'dns' | 'refused' | null
}

/**
 * Sends OPTIONS to a live connection's trunk, and notes an answer for the connection's status. If there is no answer,
 * nothing is noted. Resolves with null if there is no such connection.
 */
export type CheckTrunk = (id: string) => Promise<TrunkCheck | null>

export interface SipConnections {
  find(id: string): Promise<SipConnection | null>
  /**
   * Finds the connections that accept calls from an IP address: a connection may list the address, or its id may be in
   * `registered`. Several organizations may match. Connections with the dialled number come first, in the order in
   * which they imported the number.
   */
  ofAddress(address: string, dialed: string, registered: readonly string[]): Promise<readonly SipConnection[]>
  /** Resolves with true if the connection's calls may come from the IP address. */
  hasAddress(id: string, address: string): Promise<boolean>
  /** Finds connections by the login name for their inbound calls. */
  ofUser(username: string, dialed: string): Promise<readonly SipConnection[]>
  /**
   * An organization may list an IP address range that contains another organization's trunk, so the address alone may
   * not be enough. Resolves with true if the call must also authenticate with a login: if a connection with a login
   * imported the dialled number before connection `id`, or if `id` does not have the number.
   */
  wantsLogin(dialed: string, id: string): Promise<boolean>
  /**
   * Finds outbound connections without registration. OPTIONS requests test whether their trunks answer. For other
   * connections the registration is the test.
   */
  probed(): Promise<readonly SipConnection[]>
  /** Finds connections that must register. */
  registering(): Promise<readonly SipConnection[]>
  /**
   * Stores the trunk's answer to a call or OPTIONS. `takesCalls` is false if the trunk refused the request or did not
   * answer.
   */
  noteAnswer(id: string, takesCalls: boolean): Promise<void>
  /**
   * Stores the trunk's answer to a registration. `isAccepted` is false if the trunk refused the registration or did not
   * answer. After a failed registration, answers to other requests do not change the status.
   */
  noteRegistration(id: string, isAccepted: boolean): Promise<void>
  /** Stores that a call has arrived over the connection. */
  noteCall(id: string): Promise<void>
}
