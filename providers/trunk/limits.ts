/** The limits of the trunk line, as the settings name them. */
export type TrunkLimits = {
  /** Concurrent legs. Beyond this limit, incoming calls are answered 503 and no call goes out. */
  legsMax: number
  /** Concurrent legs for one organization, so that one organization cannot take all legs. */
  legsPerOrganizationMax: number
  /**
   * Concurrent store lookups for the senders of messages. Beyond this limit, messages are dropped. Their senders repeat
   * them.
   */
  lookupsMax: number
  /** If a far end sends no audio for this long, it is asked if it is still there. */
  farEndQuietMs: number
  /** Concurrent TCP sockets. */
  socketsMax: number
  /** Concurrent TCP sockets from one remote address. */
  socketsPerAddressMax: number
}
