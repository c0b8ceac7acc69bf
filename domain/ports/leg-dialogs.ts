/**
 * Stores a line's SIP dialog data for its open legs. A message that ends a leg is built from this data. So if a process
 * dies, another process can still end its legs.
 */
export interface LegDialogs {
  /**
   * Stores the data, and the line's leg id if the leg's row has no such id yet. `dialog` is JSON, read only by the
   * line.
   */
  keep(leg: { legId: string | null; carrierLegId: string }, dialog: string): Promise<void>
  /** Resolves with the data, or with null if the leg is over or if nothing was stored. */
  find(carrierLegId: string): Promise<string | null>
}

/** The most bytes of dialog data. Longer data is refused. */
export const dialogBytesMax = 16_384
