/** The limits of the trunk line, as the settings name them. */
export type TrunkLimits = {
  /** The most concurrent legs. Beyond this limit, incoming calls are answered 503 and no call goes out. */
  legsMax: number
  /** The most concurrent legs for one organization, so that one organization cannot use all legs. */
  legsPerOrganizationMax: number
  /**
   * The most concurrent store lookups for the senders of messages. Messages beyond this limit are dropped, and their
   * senders repeat them.
   */
  lookupsMax: number
  /** If a far end sends no audio for this long, OPTIONS asks if it still has the call. */
  farEndQuietMs: number
  /** The most concurrent TCP sockets. */
  socketsMax: number
  /** The most concurrent TCP sockets from one remote address. */
  socketsPerAddressMax: number
}
