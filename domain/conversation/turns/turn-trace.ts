/**
 * Exports a trace span for each agent turn, below the call's span. LLM, speech and tool requests export their own
 * spans, below the turn. This file adds spans for the other parts of the latency before an answer, such as endpointing.
 * It reads them from the turn's span in the call's record.
 */
import type { Trace } from '../../ports/trace.ts'
import type { Span } from '../../records/call.ts'
import type { AgentTurn } from './agent-turn.ts'

/** Parts that get no span here: the request or the tool call exports its own span, or the time is unattributed. */
const recordedElsewhere: readonly Span['kind'][] = ['llm', 'tts', 'tool', 'unattributed']

/** Records a turn and the parts of its latency. `span` has times relative to `originMs`, the call's start. */
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

/** Records a turn that was not played, because its model requests were sent and cost time and money. */
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
