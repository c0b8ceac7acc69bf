/** The limits of the trunk line, as the settings name them. */
export type TrunkLimits = {
  /** The most concurrent legs. Beyond this limit, incoming calls are answered 503 and no call goes out. */
  legsMax: number
  /** The most concurrent legs for one organization, so that one organization cannot use all legs. */
  legsPerOrganizationMax: number
  /**
   * The most concurrent store lookups for the senders of messages. Messages beyond this limit are dropped over UDP,
   * where their senders repeat them, and answered 503 over TCP.
   */
  lookupsMax: number
  /** The most requests kept for their repeats. */
  transactionsMax: number
  /** The most wrong logins answered per minute, for one user name from one address. */
  wrongLoginsPerMinuteMax: number
  /** If a far end sends no audio for this long, OPTIONS asks if it still has the call. */
  farEndQuietMs: number
  /** The most concurrent TCP sockets. */
  socketsMax: number
  /** The most concurrent TCP sockets from one remote address. */
  socketsPerAddressMax: number
  /** The most concurrent TCP sockets from one remote address without a known sender's message. */
  strangerSocketsPerAddressMax: number
  /** A TCP socket is closed if no known sender's message has come after this long. */
  firstMessageMs: number
}
