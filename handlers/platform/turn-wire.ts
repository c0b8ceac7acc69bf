import type { Turn, TurnToolCall } from '../../domain/records/call.ts'
import type { CallToolCall, CallTurn, SessionTurn } from '../../generated/platform/types.ts'
import { timeOf, timeOrNull } from './times.ts'

export function sessionTurn(turn: Turn): SessionTurn {
  return {
    id: turn.id,
    index: turn.index,
    source: turn.source,
    text: turn.text,
    startedAt: timeOf(turn.startedAtMs),
    endedAt: timeOf(turn.endedAtMs),
    provider: turn.provider,
    model: turn.model,
    eouMs: turn.eouMs,
    llmTtftMs: turn.llmTtftMs,
    ttsTtfbMs: turn.ttsTtfbMs,
    conversationalLatencyMs: turn.conversationalLatencyMs,
    latencyStatus: turn.latencyStatus,
    toolCalls: turn.toolCalls.map(({ id, name, args, status }) => ({ id, name, args, status })),
    ['heardText']: turn.playedText,
    metadata: turn.metadata,
  }
}

export function callTurn(turn: Turn): CallTurn {
  return {
    id: turn.id,
    index: turn.index,
    source: turn.source,
    text: turn.text,
    started_at: timeOf(turn.startedAtMs),
    ended_at: timeOf(turn.endedAtMs),
    provider: turn.provider,
    model: turn.model,
    eou_ms: turn.eouMs,
    llm_ttft_ms: turn.llmTtftMs,
    tts_ttfb_ms: turn.ttsTtfbMs,
    conversational_latency_ms: turn.conversationalLatencyMs,
    latency_status: turn.latencyStatus,
    tool_calls: turn.toolCalls.map(callToolCall),
    ['heard_text']: turn.playedText,
    metadata: turn.metadata,
  }
}

function callToolCall({ id, name, args, status, ...facts }: TurnToolCall): CallToolCall {
  return {
    ...{ id, name, args, status },
    result: facts.result ?? null,
    is_error: status === 'failed',
    http_status: facts.httpStatus ?? null,
    started_at: timeOrNull(facts.startedAtMs ?? null),
    duration_ms: facts.durationMs ?? null,
    attempts: facts.attempts ?? null,
  }
}
