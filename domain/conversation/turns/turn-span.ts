/**
 * Makes the span for one agent turn. The span's parts explain the latency between the user's last speech and the
 * agent's first audio. Parts can overlap, so each part's critical time is only the time spent waiting for it. The rest
 * is unattributed, so the critical times add up to the latency:
 *
 *   speech end ├ endpointing ┤ stt ├ llm ┤ tool ├ llm ┤ tts ├ playout ┤ first audio
 */
import type { Route } from '../../dispatch/request.ts'
import type { Span, SpanKind } from '../../records/call.ts'
import type { AgentTurn } from './agent-turn.ts'
import type { Hop } from './thinking.ts'

/** Times are on the monotonic clock. `originMs` is the call's start on it. */
export type SpanContext = {
  index: number
  originMs: number
  newId: () => string
  interrupted: boolean
  endMs: number
  firstPlayedMs: number | null
  playout: { marks: number; bufferedMs: number }
  sttRoute: Route | null
}

type Part = { kind: SpanKind; startMs: number; endMs: number; attributes: Record<string, unknown> }

export function turnSpan(turn: AgentTurn, context: SpanContext): Span {
  const { timing } = turn
  const startMs = timing?.speechEndMs ?? timing?.decisionMs ?? turn.startedMs
  const silenceEndMs = Math.max(startMs, context.firstPlayedMs ?? context.endMs)
  const children = criticalParts(partsOf(turn, context), startMs, silenceEndMs, context)
  const silenceMs = rounded(silenceEndMs - startMs)
  return {
    id: context.newId(),
    kind: 'turn',
    startMs: rounded(startMs - context.originMs),
    durationMs: rounded(Math.max(silenceEndMs, context.endMs) - startMs),
    criticalMs: silenceMs,
    attributes: {
      index: context.index,
      silence_ms: silenceMs,
      interrupted: context.interrupted,
      preempted: turn.isPreempted,
    },
    children,
  }
}

/** Returns the parts of the latency in the order of the pipeline: endpointing, STT, LLM, tools, TTS, playout. */
function partsOf(turn: AgentTurn, context: SpanContext): Part[] {
  const { timing, speech, thinking } = turn
  const parts: Part[] = []
  if (timing !== null && timing.speechEndMs !== null) {
    const dueMs = Math.min(timing.dueMs ?? timing.decisionMs, timing.decisionMs)
    parts.push({ kind: 'endpointing', startMs: timing.speechEndMs, endMs: dueMs, attributes: {} })
    parts.push({ kind: 'stt', startMs: dueMs, endMs: timing.decisionMs, attributes: routeOf(context.sttRoute) })
  }
  for (const hop of thinking?.hops ?? []) parts.push(...partsOfHop(hop, speech.firstSentenceMs))
  const { firstSentenceMs, firstAudioMs, usage } = speech
  if (firstSentenceMs !== null && firstAudioMs !== null)
    parts.push({
      kind: 'tts',
      startMs: firstSentenceMs,
      endMs: firstAudioMs,
      attributes: {
        ...routeOf(speech.route),
        ttfb_ms: rounded(firstAudioMs - firstSentenceMs),
        quantities: usage && { characters: usage.characters },
        cost_micro_usd: usage?.costMicroUsd ?? null,
      },
    })
  if (firstAudioMs !== null && context.firstPlayedMs !== null) {
    const { marks, bufferedMs } = context.playout
    const attributes = { marks, buffered_ms: bufferedMs }
    parts.push({ kind: 'playout', startMs: firstAudioMs, endMs: context.endMs, attributes })
  }
  return parts
}

/**
 * Returns the parts for one LLM request. Waiting for the LLM ends with the first sentence if this request wrote it,
 * otherwise with the whole answer.
 */
function partsOfHop(hop: Hop, firstSentenceMs: number | null): Part[] {
  const { startedMs, firstTokenMs, endedMs, usage, costMicroUsd } = hop
  const quantities = usage && {
    input_tokens: usage.inputTokens,
    cached_input_tokens: usage.cachedInputTokens,
    output_tokens: usage.outputTokens,
    reasoning_tokens: usage.reasoningTokens,
  }
  const attributes = {
    ...routeOf(hop.route),
    ttfb_ms: firstTokenMs === null ? null : rounded(firstTokenMs - startedMs),
    quantities,
    cost_micro_usd: costMicroUsd,
  }
  const speaksHere = firstSentenceMs !== null && firstSentenceMs >= startedMs && firstSentenceMs < endedMs
  const llm: Part = { kind: 'llm', startMs: startedMs, endMs: speaksHere ? firstSentenceMs : endedMs, attributes }
  const tools = hop.calls.map(({ call, startedMs, endedMs }): Part => {
    const attributes = { name: call.name, ok: call.status === 'completed' }
    return { kind: 'tool', startMs: startedMs, endMs: endedMs, attributes }
  })
  return [llm, ...tools]
}

function criticalParts(parts: readonly Part[], startMs: number, endMs: number, context: SpanContext): Span[] {
  let reachedMs = startMs
  let unattributedMs = 0
  const spans = parts.map((part): Span => {
    const from = Math.min(Math.max(reachedMs, part.startMs), endMs)
    const to = Math.min(Math.max(from, part.endMs), endMs)
    // If the answer did not wait for this part, the gap before it is counted in the next part's gap.
    const isWaitedFor = to > from
    if (isWaitedFor) {
      unattributedMs += from - reachedMs
      reachedMs = to
    }
    return spanOf(part, isWaitedFor ? to - from : 0, context)
  })
  unattributedMs += endMs - reachedMs
  if (unattributedMs < 0.001) return spans
  const rest: Part = { kind: 'unattributed', startMs: endMs - unattributedMs, endMs, attributes: {} }
  return [...spans, spanOf(rest, unattributedMs, context)]
}

function spanOf(
  { kind, startMs, endMs, attributes }: Part,
  criticalMs: number,
  { newId, originMs }: SpanContext,
): Span {
  return {
    id: newId(),
    kind,
    startMs: rounded(startMs - originMs),
    durationMs: rounded(Math.max(0, endMs - startMs)),
    criticalMs: rounded(criticalMs),
    attributes,
    children: [],
  }
}

function routeOf(route: Route | null): Record<string, unknown> {
  return {
    provider: route?.provider ?? null,
    model: route?.model ?? null,
    request_id: route?.requestId ?? null,
    attempt_id: route?.attemptId ?? null,
    failover_count: route?.failovers ?? 0,
  }
}

/** Rounds to microseconds. */
function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000
}
