/**
 * One timer calls `pace` for all sessions (`Watch` in the runtime). `place` is the session's index in the timer's list,
 * or -1 outside the list, and only the timer changes it.
 */
export interface Pacer {
  add(member: Paced): void
  delete(member: Paced): void
}
export type Paced = { place: number; pace(nowMs: number): void }
