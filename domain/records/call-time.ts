import type { Clock } from '../ports/system.ts'

/**
 * Returns a function that converts monotonic times to wall-clock times. The wall clock is read only once, at the call's
 * start. If the wall clock is changed later, the call's length and the order of its events remain correct.
 */
export function createCallTime(clock: Clock): (monotonicMs: number) => number {
  const originMs = clock.nowMs() - clock.monotonicMs()
  return (monotonicMs) => Math.round(originMs + monotonicMs)
}
