/**
 * Stores a line's data for its open legs. To end a leg, its far end needs a message built from this data. So if a
 * process dies, the next process can still end its legs.
 */
export interface LegDialogs {
  /** Also stores the line's leg id if the row has no such id yet. `dialog` is JSON, read only by the line. */
  keep(leg: { legId: string | null; carrierLegId: string }, dialog: string): Promise<void>
  /** Null if the leg is over, or if nothing was stored. */
  find(carrierLegId: string): Promise<string | null>
}

/** Longer data is refused. */
export const dialogBytesMax = 16_384
