/**
 * Stores the SIP dialog data of a trunk's or carrier's open legs. A message that ends a leg is built from this data. So
 * if a process dies, another process can still end its legs.
 */
export interface LegDialogs {
  /**
   * Stores the data, and the carrier's leg id if the leg's row has no such id yet. `dialog` is JSON that only the SIP
   * code reads.
   */
  keep(leg: { legId: string | null; carrierLegId: string }, dialog: string): Promise<void>
  /** Resolves with the data, or with null if the leg is over or if nothing was stored. */
  find(carrierLegId: string): Promise<string | null>
}

/** The maximum size of the dialog data in bytes. Longer data is refused. */
export const dialogBytesMax = 16_384
