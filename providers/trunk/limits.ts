/** The limits for SIP trunks. Each field has its setting's name. */
export type TrunkLimits = {
  /** The limit for concurrent legs. Beyond this limit, incoming calls are answered 503 and outgoing calls fail. */
  legsMax: number
  /** The limit for concurrent legs for one organization, so that one organization cannot use all legs. */
  legsPerOrganizationMax: number
  /**
   * The limit for concurrent database lookups of the SIP connection that a message's sender belongs to. Beyond this
   * limit, UDP messages are dropped, because senders repeat them, and TCP messages are answered 503.
   */
  lookupsMax: number
  /** The limit for requests remembered, to recognize repeated requests. */
  transactionsMax: number
  /**
   * The limit for wrong logins per minute for one user name from one IP address. Beyond this limit, logins get no
   * response.
   */
  wrongLoginsPerMinuteMax: number
  /** If a far end sends no audio for this long, OPTIONS is sent to check if it still has the call. */
  farEndQuietMs: number
  /** The most concurrent TCP sockets. */
  socketsMax: number
  /** The limit for concurrent TCP sockets from one remote IP address. */
  socketsPerAddressMax: number
  /** The limit for concurrent TCP sockets from one remote IP address before a known sender's message has arrived. */
  strangerSocketsPerAddressMax: number
  /** A TCP socket is closed if no message from a known sender has arrived within this time. */
  firstMessageMs: number
}
