/**
 * A second candidate is asked while the first is late: the first to answer serves, the other is cancelled. That buys the slowest
 * requests their time back at the price of a second attempt, so it is off unless the operator wants it, and only requests that ask
 * for latency do it.
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
 * The time after which a row is late: 95 of 100 of its recent answers were quicker. Null for a request that is not hedged. The function
 * answers null where too few answers were measured.
 */
export function latenessOf<T>(
  { health, hedges }: DispatchDeps,
  { ask, atOnce, mediaMs, opensOnly }: Plan<T>,
): ((row: Row) => number | null) | null {
  const { routing, path } = ask
  if (!hedges || opensOnly || routing.mode !== 'auto' || routing.objective !== 'latency') return null
  if (!atOnce) return (row) => health.p95(row, path, 'firstByteMs')
  // A whole answer of a language model takes as long as it is long, so its time says nothing.
  if (mediaMs === undefined) return null
  return (row) => {
    const factor = health.p95(row, path, 'realTimeFactor')
    return factor === null ? null : factor * mediaMs
  }
}

/** `result` is the answer, or the later failure where both failed. `beside` is the other attempt, null where none was started. */
export type Hedged<T> = { result: Settled<T>; beside: Settled<T> | null }

/** `startSecond` answers null where no candidate is left. */
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

/** Null when it has not settled in time. */
function within<T>(clock: Clock, settled: Promise<T>, lateMs: number): Promise<T | null> {
  return new Promise((resolve) => {
    const cancel = clock.after(lateMs, () => resolve(null))
    void settled.then((result) => {
      cancel()
      resolve(result)
    })
  })
}
