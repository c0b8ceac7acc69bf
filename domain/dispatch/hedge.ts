/**
 * A second candidate is asked while the first is late: whoever answers first serves, the other is cancelled. That buys the slowest requests their
 * time back at the price of a second call, so it is off unless the operator wants it, and only requests that ask for latency do it.
 *
 *   first ──lateMs──┬─────────────► answers: second is cancelled
 *                   └─ second ────► answers: first is cancelled
 */

import type { Row } from '../catalog/catalog.ts'
import type { Health } from '../health/health.ts'
import { ProviderError } from '../ports/provider-error.ts'
import type { Clock } from '../ports/system.ts'
import type { Ask } from '../routing/ask.ts'
import type { Attempts, Settled, Started } from './attempts.ts'

/** What is asked, and whether the whole answer is waited for. `mediaMs`: so much audio is to be worked through before it. */
export type Hedged = { ask: Ask; atOnce: boolean; mediaMs: number | null }

/**
 * When a row is late: after what 95 of 100 of its answers of late were quicker than. Null where too few were measured, and where the time
 * says nothing (a whole answer of a language model takes as long as it is long).
 */
export function latenessOf(health: Health, { ask, atOnce, mediaMs }: Hedged): ((row: Row) => number | null) | null {
  const { routing, path } = ask
  if (routing.mode !== 'auto' || routing.objective !== 'latency') return null
  if (!atOnce) return (row) => health.p95(row, path, 'firstByteMs')
  if (mediaMs === null) return null
  return (row) => {
    const factor = health.p95(row, path, 'realTimeFactor')
    return factor === null ? null : factor * mediaMs
  }
}

/** The answer, or the failure that came last where both failed; the other one is among the failures by then. */
export async function hedge<T>(
  clock: Clock,
  attempts: Attempts<T>,
  first: Started<T>,
  lateMs: number,
): Promise<Settled<T>> {
  const early = await within(clock, first.settled, lateMs)
  if (early !== null) return early
  const second = attempts.start(first.row.provider)
  if (second === null) return first.settled
  const quicker = await Promise.race([
    first.settled.then((result) => ({ result, other: second })),
    second.settled.then((result) => ({ result, other: first })),
  ])
  const { failures } = attempts.unserved
  if (!('value' in quicker.result)) {
    failures.push(quicker.result)
    return quicker.other.settled
  }
  quicker.other.signal.end(new ProviderError('cancelled', { sent: true }))
  const dropped = await quicker.other.settled
  failures.push('value' in dropped ? attempts.dropped(dropped) : dropped)
  return quicker.result
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
