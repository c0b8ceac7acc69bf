/** The tree of the spans of a call, whose parts sum to the silences that a caller has waited. */
import type { Call, Span } from '../records/call.ts'

export type SpanTree = { startedAtMs: number; durationMs: number; root: Span }

/** Sums may differ by this much, because times are rounded. */
const toleranceMs = 1

/** Null: the call was never connected. A call that goes on lasts until `nowMs`. */
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

/** Makes the critical parts of a turn sum to its silence: `unattributed` takes the rest, and later parts give way to earlier ones. */
function balanced(span: Span): Span {
  const silenceMs = span.attributes['silence_ms']
  if (span.kind !== 'turn' || typeof silenceMs !== 'number') return span
  const known = span.children.filter(({ kind }) => kind !== 'unattributed')
  let leftMs = silenceMs
  const parts = known.map((child) => {
    const criticalMs = Math.min(Math.max(0, child.criticalMs), leftMs)
    leftMs -= criticalMs
    return criticalMs === child.criticalMs ? child : { ...child, criticalMs }
  })
  if (leftMs < toleranceMs) return { ...span, children: parts }
  const rest = { startMs: span.startMs, durationMs: leftMs, criticalMs: leftMs, attributes: {}, children: [] }
  return { ...span, children: [...parts, { id: `${span.id}-unattributed`, kind: 'unattributed', ...rest }] }
}
