/** The limits of a line of trunks, as the settings name them. */
export type TrunkLimits = {
  /** Legs at once. Calls that come beyond them are answered 503, and none go out. */
  legsMax: number
  /** The same for one organization, so that the calls of one leave room for those of others. */
  legsPerOrganizationMax: number
  /** Questions to the store about the senders of messages that are open at once. Messages beyond them are dropped, and repeated by their senders. */
  lookupsMax: number
  /** A far end that has sent no audio for this long is asked whether it is still there. */
  farEndQuietMs: number
  /** Sockets of TCP at once. */
  socketsMax: number
  /** The same for one address that connects to us. */
  socketsPerAddressMax: number
}
