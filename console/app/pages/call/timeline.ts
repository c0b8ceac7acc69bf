/**
 * Places a call's turns, silences and legs on one axis: the recording's, in seconds, because the sound plays at these
 * times. Spans count from the call's start, and the recording begins a little later. If a call has no recording, the
 * axis begins at the call's start.
 */
import type { Call, CallSpan, CallTurn, Transfer } from '../../../../generated/clients/typescript/models/platform.ts'

export type Part = {
  id: string
  kind: CallSpan['kind']
  startS: number
  durationMs: number
  waitedMs: number
  span: CallSpan
}
export type Silence = { startS: number; ms: number; parts: readonly Part[]; isPreempted: boolean }
export type Line = {
  turn: CallTurn
  startS: number
  endS: number
  /** The silence before an answer, with its parts. Null if no span was kept, and on the caller's turns. */
  silence: Silence | null
  isInterrupted: boolean
  /** True if the turn is slow or interrupted, or if one of its tools failed. */
  hasProblem: boolean
}
export type Leg = { id: string; label: string; startS: number; endS: number; status: Transfer['status'] }
export type Timeline = { lengthS: number; lines: readonly Line[]; legs: readonly Leg[] }

export function timelineOf(call: Call, slowMs: number): Timeline {
  const originMs = originOf(call)
  const startedMs = Date.parse(call.span_tree.started_at ?? call.started_at ?? call.created_at)
  const shiftS = (startedMs - originMs) / 1000
  const silences = new Map(turnSpans(call).map((span) => [span.attributes['index'], silenceOf(span, shiftS)]))
  const at = (iso: string) => Math.max(0, (Date.parse(iso) - originMs) / 1000)
  // A turn gets its index at its end, so a note that was written during a long turn has a smaller index.
  const lines = call.transcript.entries
    .map((turn) => lineOf(turn, at, silences.get(turn.index) ?? null, slowMs))
    .sort((a, b) => a.startS - b.startS)
  const legs = legsOf(call, at)
  const ends = [
    ...lines.map(({ endS }) => endS),
    ...legs.map(({ endS }) => endS),
    call.ended_at === null ? 0 : at(call.ended_at),
  ]
  const recordedS = (call.recording_duration_ms ?? 0) / 1000
  return { lengthS: Math.max(1, recordedS, ...ends), lines, legs }
}

/** Returns the time at the beginning of the axis, in milliseconds since the epoch. */
export function originOf(call: Call): number {
  return Date.parse(call.recording_started_at ?? call.started_at ?? call.created_at)
}

const turnSpans = ({ span_tree: { spans = [] } }: Call) =>
  spans.flatMap(({ children }) => children).filter(({ kind }) => kind === 'turn')

function silenceOf(span: CallSpan, shiftS: number): Silence {
  const parts = span.children.map((child) => ({
    id: child.id,
    kind: child.kind,
    startS: child.start_ms / 1000 + shiftS,
    durationMs: child.duration_ms,
    waitedMs: child.critical_ms,
    span: child,
  }))
  const silenceMs = span.attributes['silence_ms']
  return {
    startS: span.start_ms / 1000 + shiftS,
    ms: typeof silenceMs === 'number' ? silenceMs : span.critical_ms,
    parts,
    isPreempted: span.attributes['preempted'] === true,
  }
}

function lineOf(turn: CallTurn, at: (iso: string) => number, silence: Silence | null, slowMs: number): Line {
  const isInterrupted = turn.latency_status === 'interrupted'
  const hasFailed = turn.tool_calls.some(({ status }) => status === 'failed')
  const isSlow = (turn.conversational_latency_ms ?? 0) >= slowMs
  const hasProblem = isSlow || isInterrupted || hasFailed
  return { turn, startS: at(turn.started_at), endS: at(turn.ended_at), silence, isInterrupted, hasProblem }
}

/** Returns the voice of a turn: the caller, the agent, or a colleague who speaks instead of the agent. */
export function voiceOf({ source, metadata }: CallTurn): 'caller' | 'agent' | 'colleague' {
  if (source === 'user') return 'caller'
  return metadata['human'] === true ? 'colleague' : 'agent'
}

/** Returns a leg for each attempt to transfer the call. */
function legsOf(call: Call, at: (iso: string) => number): Leg[] {
  const endS = at(call.ended_at ?? call.updated_at)
  return call.transfers.map((transfer) => ({
    id: transfer.id,
    label: transfer.label ?? transfer.transfer_to,
    startS: at(transfer.created_at),
    endS: transfer.status === 'completed' ? endS : at(transfer.completed_at ?? call.updated_at),
    status: transfer.status,
  }))
}

/** Splits a turn's words into the played part and the rest. The caller did not get the rest. */
export function playedParts(turn: CallTurn): { played: string; lost: string } {
  const played = turn['heard_text']
  if (turn.source !== 'agent' || played === null || played === turn.text) return { played: turn.text, lost: '' }
  const end = turn.text.startsWith(played) ? played.length : 0
  return end > 0 || played === '' ? { played, lost: turn.text.slice(end) } : { played, lost: turn.text }
}
