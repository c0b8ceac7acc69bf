import type { Clock } from '../ports/system.ts'

/**
 * Turns monotonic times into times of day. The time of day is read once, now: a wall clock that is set during a call
 * changes neither how long the call was nor the order of what is recorded of it.
 */
export function createCallTime(clock: Clock): (monotonicMs: number) => number {
  const originMs = clock.nowMs() - clock.monotonicMs()
  return (monotonicMs) => Math.round(originMs + monotonicMs)
}
