/**
 * A call and its record. A session is a call that is not over yet: both have one id and one row.
 */
import type { Callback } from './callback.ts'
import type { Pipeline } from './pipeline.ts'
import { type CallStatus, callStatuses, type EndReason, isTerminal } from './states/call.ts'
import { callbackStatuses } from './states/callback.ts'
import { transferStatuses } from './states/transfer.ts'
import type { Transfer } from './transfer.ts'

export const callKinds = ['browser', 'outbound', 'inbound', 'rmsg'] as const
export type CallKind = (typeof callKinds)[number]

export const recordingStatuses = ['recording', 'uploading', 'ready', 'failed', 'suppressed'] as const
export type RecordingStatus = (typeof recordingStatuses)[number]

/** The phone side of a call. Numbers are E.164. */
export type CallPhone = {
  direction: 'inbound' | 'outbound'
  /** Null: the caller has withheld it. */
  from: string | null
  /** The number that was dialled. */
  to: string
  forwardedFrom: string | null
  phoneNumberId: string
  /** The leg of the caller, or of the person who is called. */
  legId: string
}

export type Call = {
  /** UUIDv7, the id of the session. */
  id: string
  organizationId: string
  test: boolean
  agentId: string | null
  /** The API key that made the session, or the phone number that was called. */
  keyId: string
  status: CallStatus
  kind: CallKind
  /** Null: the call has no phone. */
  phone: CallPhone | null
  /** The name of the browser's user, or of the person at the phone, in this session. */
  identity: string
  pipeline: Pipeline
  metadata: Record<string, unknown>
  webhookTags: Record<string, string>
  createdAtMs: number
  updatedAtMs: number
  /** A browser must have joined by then. */
  expiresAtMs: number
  /** When it was connected. */
  startedAtMs: number | null
  endedAtMs: number | null
  endReason: EndReason | null
  recordingStatus: RecordingStatus | null
  recordingDurationMs: number | null
  /** The serving process that holds the media. Null: nobody has joined yet. */
  ownerId: string | null
}

export function roomNameOf({ id }: Pick<Call, 'id'>): string {
  return `room-${id}`
}

/** Whether somebody may join the call at this time: it is not over, and has not waited too long for its first join. */
export function isJoinable({ status, ownerId, expiresAtMs }: Call, nowMs: number): boolean {
  return !isTerminal(status) && (status !== 'queued' || ownerId !== null || expiresAtMs > nowMs)
}

/** Whole seconds, rounded up; 0 for a call that was never connected. Null: it is not over. */
export function durationS({ startedAtMs, endedAtMs }: Pick<Call, 'startedAtMs' | 'endedAtMs'>): number | null {
  if (endedAtMs === null) return null
  return startedAtMs === null ? 0 : Math.ceil((endedAtMs - startedAtMs) / 1000)
}

export const eventTypes = [
  ...callStatuses.map((status) => `call.${status}` as const),
  'call.variables_missing',
  'room.created',
  'room.participant_joined',
  'room.participant_left',
  'room.participant_reconnected',
  'room.agent_joined',
  'room.agent_left',
  'room.hold_audio_failed',
  'room.closed',
  'recording.recording',
  'recording.uploading',
  'recording.ready',
  'recording.failed',
  'recording.suppressed',
  'agent.tool_started',
  'agent.tool_completed',
  'agent.tool_failed',
  'agent.failover',
  'analysis.pending',
  'analysis.completed',
  'analysis.heuristic',
  'analysis.failed',
  ...callbackStatuses.map((status) => `callback.${status}` as const),
  ...transferStatuses.map((status) => `transfer.${status}` as const),
  'budget.exhausted',
  'webhook.pre_call',
  'carrier.initiated',
  'carrier.ringing',
  'carrier.answered',
  'carrier.bridged',
  'carrier.hangup',
  'carrier.machine_detection',
  'carrier.dtmf',
  'carrier.stream_started',
  'carrier.stream_stopped',
  'carrier.stream_failed',
  'carrier.recording_saved',
  'carrier.recording_failed',
] as const
export type EventType = (typeof eventTypes)[number]

export type CallEvent = {
  /** UUIDv7. */
  id: string
  provider: 'service' | 'media' | 'carrier'
  type: EventType
  /** The status of the call after it. */
  status: CallStatus | null
  failureCause: string | null
  /** The answer of the far end or of the carrier. */
  sipCode?: number
  occurredAtMs: number
  /** Never content. */
  payload: Record<string, unknown>
}

export type ToolCallStatus = 'started' | 'completed' | 'failed'
/** `args` is JSON text as the LLM wrote it. */
export type TurnToolCall = { id: string; name: string; args: string; status: ToolCallStatus }

export const latencyStatuses = ['partial', 'complete', 'interrupted', 'error'] as const
export type LatencyStatus = (typeof latencyStatuses)[number]

/** One finished turn of the transcript. Latencies, `playedText` and `toolCalls` are of agent turns only. */
export type Turn = {
  /** UUIDv7. */
  id: string
  /** Counts the finished turns of a call from 0. */
  index: number
  source: 'user' | 'agent' | 'system'
  text: string
  startedAtMs: number
  endedAtMs: number
  /** Speech to text on a user turn, the LLM on an agent turn. */
  provider: string | null
  model: string | null
  /** From the end of speech to the decision that the turn is over. */
  eouMs: number | null
  /** From the decision to the first token. */
  llmTtftMs: number | null
  /** From the first sentence handed over to its first audio. */
  ttsTtfbMs: number | null
  /** From the end of speech to the first audio that was played. */
  conversationalLatencyMs: number | null
  /** `partial`: the client has not said what was played. */
  latencyStatus: LatencyStatus | null
  toolCalls: readonly TurnToolCall[]
  /** The part of `text` that was played. Null: this is no agent turn. */
  playedText: string | null
  metadata: Record<string, unknown>
}

export const spanKinds = [
  'call',
  'dial',
  'pre_call',
  'turn',
  'endpointing',
  'stt',
  'llm',
  'tool',
  'tts',
  'playout',
  'transfer',
  'unattributed',
] as const
export type SpanKind = (typeof spanKinds)[number]

/** Times are from the start of the call. `criticalMs` of the children of a turn sum to its silence. Never content. */
export type Span = {
  id: string
  kind: SpanKind
  startMs: number
  durationMs: number
  criticalMs: number
  attributes: Record<string, unknown>
  children: readonly Span[]
}

/**
 * One change of the record of a call. Each entry has an id, so that one that is written twice is stored
 * once.
 */
export type CallEntry =
  /** The status, its event and what the call knows then are written in one transaction. */
  | { kind: 'move'; event: CallEvent; to: CallStatus; change: CallChange }
  | { kind: 'event'; event: CallEvent }
  /** It replaces one that was promised before in the call. */
  | { kind: 'callback'; event: CallEvent; callback: Callback }
  /** The row of an attempt as it is now, which may be a new one. */
  | { kind: 'transfer'; event: CallEvent; transfer: Transfer }
  | { kind: 'turn'; turn: Turn }
  | { kind: 'span'; span: Span }
  /** `lineEventId`: of the event of the line that the end of a recording makes if the call is by phone. */
  | { kind: 'recording'; event: CallEvent; lineEventId?: string; status: RecordingStatus; durationMs: number | null }

export type CallChange = Partial<Pick<Call, 'startedAtMs' | 'endedAtMs' | 'endReason' | 'ownerId'>>
