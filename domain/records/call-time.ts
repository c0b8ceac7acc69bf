import type { Clock } from '../ports/system.ts'

/**
 * Turns monotonic times into times of day. The wall clock is read only once, at the call's start: if it is set later,
 * the call's length and its events' order stay right.
 */
export function createCallTime(clock: Clock): (monotonicMs: number) => number {
  const originMs = clock.nowMs() - clock.monotonicMs()
  return (monotonicMs) => Math.round(originMs + monotonicMs)
}
