/** One timer paces all sessions (`Watch` of the runtime). `place` belongs to the timer and is -1 at first. */
export interface Pacer {
  add(member: Paced): void
  delete(member: Paced): void
}
export type Paced = { place: number; pace(nowMs: number): void }
