/** Finds SIP trunks across all organizations, because a SIP message names no organization. */

export type SipConnection = {
  /** `sip_…` */
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

/** The trunk's rules for addressing calls. */
export type OutboundAddressing = {
  /** If true, the called address is marked as a telephone number. */
  userPhone: boolean
  /**
   * The header for the caller's number: From, or P-Preferred-Identity or P-Asserted-Identity beside a login in From.
   */
  identity: 'from' | 'preferred' | 'asserted'
  /** True if the trunk must learn by REGISTER where to send calls. */
  register: boolean
}

export interface SipConnections {
  find(id: string): Promise<SipConnection | null>
  /**
   * Finds inbound connections for an address: a connection may list the address, or be in `registered` and take calls.
   * Several organizations may match. Connections with the dialled number come first, and among them the earliest
   * import.
   */
  ofAddress(address: string, dialed: string, registered: readonly string[]): Promise<readonly SipConnection[]>
  /** True if the connection's calls may come from the address. */
  hasAddress(id: string, address: string): Promise<boolean>
  /** Finds connections by their calls' login name. */
  ofUser(username: string, dialed: string): Promise<readonly SipConnection[]>
  /**
   * True if a connection with a login imported the dialled number before connection `id` did, or if `id` does not have
   * the number. The address alone is then not enough: anybody may list a range with somebody else's trunk in it.
   */
  wantsLogin(dialed: string, id: string): Promise<boolean>
  /**
   * Outbound connections without registration: OPTIONS asks whether the trunk answers. For the others a registration
   * does so.
   */
  probed(): Promise<readonly SipConnection[]>
  /** Connections with a trunk that must learn by REGISTER where to send calls. */
  registering(): Promise<readonly SipConnection[]>
  /** Records the trunk's answer to a call or OPTIONS. `takesCalls` is false for a refusal or silence. */
  noteAnswer(id: string, takesCalls: boolean): Promise<void>
  /**
   * Records the trunk's answer to a registration. `isAccepted` is false for a refusal or silence. Answers to other
   * requests do not repair a registration.
   */
  noteRegistration(id: string, isAccepted: boolean): Promise<void>
  /** Records an inbound call over the connection. */
  noteCall(id: string): Promise<void>
}
