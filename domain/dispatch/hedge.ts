/**
 * If the first candidate is late, a second candidate starts too. The first to answer serves, and the other is
 * cancelled. Hedging makes the slowest requests faster but costs a second attempt. So it is off by default, and only
 * requests with the objective latency use it.
 *
 *   first ──lateMs──┬─────────────► answers: second is cancelled
 *                   └─ second ────► answers: first is cancelled
 */

import type { Row } from '../catalog/catalog.ts'
import { ProviderError } from '../ports/provider-error.ts'
import type { Clock } from '../ports/system.ts'
import type { Settled, Started } from './attempt.ts'
import type { DispatchDeps, Plan } from './request.ts'

/**
 * Returns a function for a row's time limit: the 95th percentile of its recent answer times. The function returns null
 * if too few answers were measured. If the request may not start a second attempt, the result is null instead of a
 * function.
 */
export function latenessOf<T>(
  { health, hedges }: DispatchDeps,
  { ask, atOnce, mediaMs, opensOnly }: Plan<T>,
): ((row: Row) => number | null) | null {
  const { routing, path } = ask
  if (!hedges || opensOnly || routing.mode !== 'auto' || routing.objective !== 'latency') return null
  if (!atOnce) return (row) => health.p95(row, path, 'firstByteMs')
  // The time for a language model's whole answer depends on the answer's length, so no fixed time shows that the answer
  // is late.
  if (mediaMs === undefined) return null
  return (row) => {
    const factor = health.p95(row, path, 'realTimeFactor')
    return factor === null ? null : factor * mediaMs
  }
}

/**
 * `result` is the answer, or the later failure if both attempts failed. `beside` is the other attempt, or null if there
 * was no second attempt.
 */
export type Hedged<T> = { result: Settled<T>; beside: Settled<T> | null }

/**
 * Waits for the first attempt, and after `lateMs` starts a second. `startSecond` returns null if no candidate is left.
 */
export async function hedge<T>(
  clock: Clock,
  first: Started<T>,
  lateMs: number,
  startSecond: () => Started<T> | null,
): Promise<Hedged<T>> {
  const early = await within(clock, first.settled, lateMs)
  if (early !== null) return { result: early, beside: null }
  const second = startSecond()
  if (second === null) return { result: await first.settled, beside: null }
  const { quicker, other } = await Promise.race([
    first.settled.then((quicker) => ({ quicker, other: second })),
    second.settled.then((quicker) => ({ quicker, other: first })),
  ])
  if (!('value' in quicker)) return { result: await other.settled, beside: quicker }
  other.signal.end(new ProviderError('cancelled', { sent: true }))
  return { result: quicker, beside: await other.settled }
}

/** Resolves like `settled`, or with null if `settled` has not resolved within `lateMs`. */
function within<T>(clock: Clock, settled: Promise<T>, lateMs: number): Promise<T | null> {
  return new Promise((resolve) => {
    const cancel = clock.after(lateMs, () => resolve(null))
    void settled.then((result) => {
      cancel()
      resolve(result)
    })
  })
}
