/** The SIP trunks that organizations have connected, of all organizations: a message of SIP names none. */

export type SipConnection = {
  /** `sip_…` */
  id: string
  organizationId: string
  /** Null: no calls go out over it. */
  outbound: SipOutbound | null
  /** Null: no calls come in over it. */
  inbound: { username: string | null; password: string | null } | null
}

export type SipOutbound = {
  host: string
  port: number
  transport: 'udp' | 'tcp'
  username: string | null
  password: string | null
} & OutboundAddressing

/** How a trunk wants calls to be addressed. */
export type OutboundAddressing = {
  /** The address that is called says that it is a telephone number. */
  userPhone: boolean
  /** Where the number of the caller is: in From, or in P-Preferred-Identity or P-Asserted-Identity beside a login in From. */
  identity: 'from' | 'preferred' | 'asserted'
  /** The trunk wants to know by REGISTER where to send calls. */
  register: boolean
}

export interface SipConnections {
  find(id: string): Promise<SipConnection | null>
  /**
   * The connections whose calls may come from the address: those that name it, and those of `registered` that take calls. Several
   * organizations may have the same one, so those that have the dialled number are the first, and of these the one that has imported it first.
   */
  ofAddress(address: string, dialed: string, registered: readonly string[]): Promise<readonly SipConnection[]>
  /** Whether calls of the connection may come from the address. */
  hasAddress(id: string, address: string): Promise<boolean>
  /** The connections whose calls may come with this name of a user. */
  ofUser(username: string, dialed: string): Promise<readonly SipConnection[]>
  /**
   * Whether a connection with a login has imported the dialled number before the connection `id`, or that one does not have
   * it. An address is then not enough: anybody may name a range with the address of somebody else's trunk in it.
   */
  wantsLogin(dialed: string, id: string): Promise<boolean>
  /** The connections over which calls go out, and that do not register: OPTIONS asks whether the trunk answers. A registration asks the others. */
  probed(): Promise<readonly SipConnection[]>
  /** The connections whose trunk wants to know by REGISTER where to send calls. */
  registering(): Promise<readonly SipConnection[]>
  /** The trunk has taken or refused a call or OPTIONS, or kept silent. */
  noteAnswer(id: string, takesCalls: boolean): Promise<void>
  /** The trunk has taken or refused a registration, or kept silent. Answers to other requests do not repair a registration. */
  noteRegistration(id: string, isTaken: boolean): Promise<void>
  /** A call has come in over the connection. */
  noteCall(id: string): Promise<void>
}
