/**
 * A call and its record. A session is stored as a call from its creation on: both have the same id and the same row.
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

/** The telephone data of a call. Numbers are in E.164 form. */
export type CallPhone = {
  direction: 'inbound' | 'outbound'
  /** Null if the caller has withheld the number. */
  from: string | null
  /** The dialled number. */
  to: string
  forwardedFrom: string | null
  phoneNumberId: string
  /** The leg of the person who called or was called. */
  legId: string
}

export type Call = {
  /** UUIDv7, also the session's id. */
  id: string
  organizationId: string
  test: boolean
  agentId: string | null
  /** The id of the session's API key, or of the called phone number. */
  keyId: string
  status: CallStatus
  kind: CallKind
  /** Null if no phone takes part in the call. */
  phone: CallPhone | null
  /** The name of the browser's user, or of the person on the phone, in this session. */
  identity: string
  pipeline: Pipeline
  metadata: Record<string, unknown>
  webhookTags: Record<string, string>
  createdAtMs: number
  updatedAtMs: number
  /** A browser must join before this time, in ms since the epoch. */
  expiresAtMs: number
  /** The time when the call was connected. */
  startedAtMs: number | null
  endedAtMs: number | null
  endReason: EndReason | null
  recordingStatus: RecordingStatus | null
  recordingDurationMs: number | null
  /** The process that handles the call's media. Null until the first join. */
  ownerId: string | null
}

export function roomNameOf({ id }: Pick<Call, 'id'>): string {
  return `room-${id}`
}

/** Returns true if the call may be joined now: it is not over, and has not waited too long for its first join. */
export function isJoinable({ status, ownerId, expiresAtMs }: Call, nowMs: number): boolean {
  return !isTerminal(status) && (status !== 'queued' || ownerId !== null || expiresAtMs > nowMs)
}

/**
 * Returns the call's length in seconds, rounded up. Returns 0 if the call was never connected, and null if it is not
 * over.
 */
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
  /** A UUIDv7. */
  id: string
  provider: 'service' | 'media' | 'carrier'
  type: EventType
  /** The call's status after the event. */
  status: CallStatus | null
  failureCause: string | null
  /** The SIP status code from the remote party or the carrier. */
  sipCode?: number
  occurredAtMs: number
  /** Must never contain the conversation's content. */
  payload: Record<string, unknown>
}

export type ToolCallStatus = 'started' | 'completed' | 'failed'
/**
 * `args` is the JSON text as the LLM wrote it. The other facts are absent while the tool runs, and in calls stored by
 * an earlier version of Parley.
 */
export type TurnToolCall = {
  id: string
  name: string
  args: string
  status: ToolCallStatus
  startedAtMs?: number
  durationMs?: number
  /** The tool's result as text for the LLM. Absent in the turns that webhook events contain. */
  result?: string
  /** A webhook tool's last HTTP status, and how many requests were made. */
  httpStatus?: number
  attempts?: number
}

export const latencyStatuses = ['partial', 'complete', 'interrupted', 'error'] as const
export type LatencyStatus = (typeof latencyStatuses)[number]

/** One finished turn in the transcript. Only agent turns have latencies, `playedText` and `toolCalls`. */
export type Turn = {
  /** A UUIDv7. */
  id: string
  /** Counts finished turns in the call from 0. */
  index: number
  source: 'user' | 'agent' | 'system'
  text: string
  startedAtMs: number
  endedAtMs: number
  /** On a user turn the STT provider, on an agent turn the LLM provider. */
  provider: string | null
  model: string | null
  /** The time from the user's last speech to the decision that the turn is over. */
  eouMs: number | null
  /** The time from the decision in `eouMs` to the LLM's first token. */
  llmTtftMs: number | null
  /** The time from passing the first sentence to TTS until its first audio. */
  ttsTtfbMs: number | null
  /** The time from the user's last speech to the first played audio. */
  conversationalLatencyMs: number | null
  /** `partial` if the client has not reported how much audio was played. */
  latencyStatus: LatencyStatus | null
  toolCalls: readonly TurnToolCall[]
  /** The played part of `text`. Null if this is not an agent turn. */
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

/**
 * Times count from the call's start. The `criticalMs` of a turn's children sum to the turn's response latency.
 * Attributes never contain words from the call.
 */
export type Span = {
  id: string
  kind: SpanKind
  startMs: number
  durationMs: number
  criticalMs: number
  attributes: Record<string, unknown>
  children: readonly Span[]
}

/** One change to a call's record. Each entry has an id, so an entry that is written twice is stored once. */
export type CallEntry =
  /** Changes the status. The status, its event and the call's changed fields are written in one transaction. */
  | { kind: 'move'; event: CallEvent; to: CallStatus; change: CallChange }
  | { kind: 'event'; event: CallEvent }
  /** A new callback. It replaces the call's previous callback. */
  | { kind: 'callback'; event: CallEvent; callback: Callback }
  /** The current row of a new or changed transfer attempt. */
  | { kind: 'transfer'; event: CallEvent; transfer: Transfer }
  | { kind: 'turn'; turn: Turn }
  | { kind: 'span'; span: Span }
  /** `lineEventId` is the id for the `carrier` event at a recording's end. Only phone calls have this event. */
  | { kind: 'recording'; event: CallEvent; lineEventId?: string; status: RecordingStatus; durationMs: number | null }

export type CallChange = Partial<Pick<Call, 'startedAtMs' | 'endedAtMs' | 'endReason' | 'ownerId'>>
