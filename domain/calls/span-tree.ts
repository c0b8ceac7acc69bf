/**
 * Builds the tree of a call's spans. A turn's parts add up to the latency between the caller's speech and the answer.
 */
import type { Call, Span } from '../records/call.ts'

export type SpanTree = { startedAtMs: number; durationMs: number; root: Span }

/** If less than this is missing from the parts' sum, no `unattributed` part is added, because times are rounded. */
const toleranceMs = 1

/** Returns null if the call was never connected. A live call's root span lasts until `nowMs`. */
export function spanTree(
  call: Pick<Call, 'id' | 'startedAtMs' | 'endedAtMs'>,
  spans: readonly Span[],
  nowMs: number,
): SpanTree | null {
  const { id, startedAtMs, endedAtMs } = call
  if (startedAtMs === null) return null
  const durationMs = Math.max(0, (endedAtMs ?? nowMs) - startedAtMs)
  const children = spans.map(balanced).toSorted((a, b) => a.startMs - b.startMs)
  const root: Span = { id, kind: 'call', startMs: 0, durationMs, criticalMs: 0, attributes: {}, children }
  return { startedAtMs, durationMs, root }
}

/**
 * Makes the critical times of a turn's parts add up to the turn's latency. A part's critical time is the time that the
 * turn waited for it. If the sum exceeds the latency, later parts are shortened. If it falls short, an `unattributed`
 * part gets the rest.
 */
function balanced(span: Span): Span {
  const silenceMs = span.attributes['silence_ms']
  if (span.kind !== 'turn' || typeof silenceMs !== 'number') return span
  const attributed = span.children.filter(({ kind }) => kind !== 'unattributed')
  let leftMs = silenceMs
  const parts = attributed.map((child) => {
    const criticalMs = Math.min(Math.max(0, child.criticalMs), leftMs)
    leftMs -= criticalMs
    return criticalMs === child.criticalMs ? child : { ...child, criticalMs }
  })
  if (leftMs < toleranceMs) return { ...span, children: parts }
  const rest = { startMs: span.startMs, durationMs: leftMs, criticalMs: leftMs, attributes: {}, children: [] }
  return { ...span, children: [...parts, { id: `${span.id}-unattributed`, kind: 'unattributed', ...rest }] }
}
