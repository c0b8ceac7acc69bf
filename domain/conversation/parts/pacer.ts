/**
 * One timer calls `pace` for all sessions (`Watch` in the runtime). Only the timer changes `place`, which is -1 at
 * first.
 */
export interface Pacer {
  add(member: Paced): void
  delete(member: Paced): void
}
export type Paced = { place: number; pace(nowMs: number): void }
