/**
 * A line stores values of its open legs here. The far end of a leg waits for a message that needs them, so that the
 * process after one that died can end its legs.
 */
export interface LegDialogs {
  /** Stores the line's name of the leg too, where its row has none yet. `dialog` is JSON that the line alone reads. */
  keep(leg: { legId: string | null; carrierLegId: string }, dialog: string): Promise<void>
  /** Null: the leg is over, or nothing was stored. */
  find(carrierLegId: string): Promise<string | null>
}

/** Longer ones are refused. */
export const dialogBytesMax = 16_384
