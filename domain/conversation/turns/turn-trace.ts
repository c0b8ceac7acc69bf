/**
 * The spans of turns, below the span of their call. Requests to models and calls of tools are spans below the turn, which
 * are recorded where they are made. Here the rest of the silence before an answer is added, from the span tree that the
 * record of the call has.
 */
import type { Trace } from '../../ports/trace.ts'
import type { Span } from '../../records/call.ts'
import type { AgentTurn } from './agent-turn.ts'

/** These are recorded with the request or the tool itself. */
const recordedElsewhere: readonly Span['kind'][] = ['llm', 'tts', 'tool', 'unattributed']

/** `span` has its times from the start of the call, `originMs`. */
export function recordAgentTurn({ trace, isPreempted }: AgentTurn, span: Span, originMs: number): void {
  if (trace === null) return
  const { index, silence_ms: silenceMs, interrupted } = span.attributes
  for (const { kind, startMs, durationMs, criticalMs } of span.children ?? []) {
    if (recordedElsewhere.includes(kind)) continue
    const startedMs = originMs + startMs
    const attributes = { 'parley.critical_ms': criticalMs }
    trace.below().record({ name: kind, kind: 'internal', startedMs, endedMs: startedMs + durationMs, attributes })
  }
  const startedMs = originMs + span.startMs
  trace.record({
    name: 'agent turn',
    kind: 'internal',
    startedMs,
    endedMs: startedMs + span.durationMs,
    attributes: {
      'parley.turn.index': Number(index),
      'parley.turn.silence_ms': Number(silenceMs),
      'parley.turn.interrupted': interrupted === true,
      'parley.turn.preempted': isPreempted,
    },
  })
}

/** A turn of which nothing was played. Its requests were made all the same. */
export function recordDroppedTurn({ trace, startedMs }: AgentTurn): void {
  trace?.record({ name: 'agent turn', kind: 'internal', startedMs, attributes: { 'parley.turn.dropped': true } })
}

export function recordUserTurn(
  trace: Trace | null,
  { startedMs, endedMs, isSpoken }: { startedMs: number; endedMs: number; isSpoken: boolean },
): void {
  const attributes = { 'parley.turn.spoken': isSpoken }
  trace?.below().record({ name: 'user turn', kind: 'internal', startedMs, endedMs, attributes })
}
