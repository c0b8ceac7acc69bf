/** One timer paces all sessions (`Watch` of the runtime). `place` belongs to the timer and is -1 at first. */
export interface Pacer {
  add(member: Paced): void
  delete(member: Paced): void
}
export type Paced = { place: number; pace(nowMs: number): void }

/** A clear is answered in this time, or the position is estimated. */
const clearedMs = 300
/** Without speech no more than this is sent ahead, because speech comes after it. */
const backgroundAheadMs = 60
