/** Finds a turn's question and answer, and says why one of the two cannot be replayed. */
import type { Call, CallTurn } from '../../../../generated/clients/typescript/models/platform.ts'
import { clockTime } from '../../parts/formats.ts'
import type { Stage } from './replay-address.ts'
import { voiceOf } from './timeline.ts'

export type Exchange = {
  /** The caller's turn. Null if the caller said nothing before the answer. */
  question: CallTurn | null
  /** The agent's turn. Null if the agent said nothing after the caller. */
  answer: CallTurn | null
}

/** Returns the turn's exchange, or null if the call has no such turn. */
export function exchangeOf({ transcript }: Call, index: number): Exchange | null {
  const turns = transcript.entries.toSorted((a, b) => Date.parse(a.started_at) - Date.parse(b.started_at))
  const at = turns.findIndex((turn) => turn.index === index)
  const turn = turns[at]
  if (turn === undefined) return null
  const [before, after] = [turns.slice(0, at), turns.slice(at + 1)]
  return {
    question: isCaller(turn) ? turn : (before.findLast(isCaller) ?? null),
    answer: isAnswer(turn) ? turn : (after.find(isAnswer) ?? null),
  }
}

const isCaller = ({ source }: CallTurn) => source === 'user'
const isAnswer = ({ source }: CallTurn) => source === 'agent'

/** Returns the turn for a stage: the caller's words for speech to text, otherwise the answer. */
export const turnOf = ({ question, answer }: Exchange, stage: Stage) => (stage === 'stt' ? question : answer)

/** Speech begins and ends softly, so a turn's audio gets a margin on both sides. */
const marginMs = { before: 300, after: 400 }
/** A longer turn would be many megabytes. */
const audioMsMax = 120_000

/** Returns a turn's times in the recording, with margins. They stay between the same party's other turns. */
export function spanOf(call: Call, turn: CallTurn): { fromMs: number; toMs: number } {
  const originMs = Date.parse(call.recording_started_at ?? '')
  const [startMs, endMs] = [Date.parse(turn.started_at), Date.parse(turn.ended_at)]
  const others = call.transcript.entries.filter(({ id, source }) => id !== turn.id && source === turn.source)
  const ends = others.map(({ ended_at: at }) => Date.parse(at)).filter((atMs) => atMs <= startMs)
  const starts = others.map(({ started_at: at }) => Date.parse(at)).filter((atMs) => atMs >= endMs)
  const fromMs = Math.max(startMs - marginMs.before, ...ends) - originMs
  const toMs = Math.min(endMs + marginMs.after, ...starts) - originMs
  return { fromMs: Math.max(0, fromMs), toMs: Math.min(toMs, call.recording_duration_ms ?? toMs) }
}

/** Says why the exchange cannot be replayed with a stage. Returns null if it can. */
export function whyNot(call: Call, exchange: Exchange, stage: Stage): string | null {
  const turn = turnOf(exchange, stage)
  if (turn === null) return stage === 'stt' ? 'The caller said nothing before this turn.' : 'The agent gave no answer.'
  if (stage === 'stt') return whyNoAudio(call, turn)
  if (voiceOf(turn) === 'colleague') return 'A person spoke these words, and no model.'
  if (stage === 'llm' && turn.provider === null) return 'No language model wrote these words, such as a first message.'
  return turn.text === '' ? 'This turn has no words.' : null
}

function whyNoAudio(call: Call, turn: CallTurn): string | null {
  if (turn.metadata['typed'] === true) return 'The caller typed these words, so there is no audio of them.'
  if (turn.metadata['dtmf'] === true) return 'The caller pressed keys, so there is no speech.'
  return whyNoRecordedAudio(call, turn)
}

/** Says why the turn's audio cannot be read from the recording. Returns null if the audio can be read. */
export function whyNoRecordedAudio(call: Call, turn: CallTurn): string | null {
  const why = whyNoRecording(call)
  if (why !== null) return why
  const { fromMs, toMs } = spanOf(call, turn)
  if (toMs <= fromMs) return 'The recording has no audio of this turn: it began later, or ended before.'
  if (toMs - fromMs <= audioMsMax) return null
  return `This turn is longer than ${clockTime(audioMsMax / 1000)}. The player of the call plays it, and parley replay sends it.`
}

/** Says why no turn's audio can be read from the recording. Returns null if the audio can be read. */
function whyNoRecording({ recording_status: status, recording_started_at: startedAt }: Call): string | null {
  if (status !== 'ready') return (status && missing[status]) ?? 'This call was not recorded.'
  if (startedAt !== null) return null
  return 'The events of this call were deleted for their age, so the place of this turn in the recording is not known.'
}

const missing: Partial<Record<NonNullable<Call['recording_status']>, string>> = {
  recording: 'The call is still recorded. Its audio can be replayed when the call is over.',
  uploading: 'The recording is being stored. Try again in a moment.',
  failed: 'The recording of this call failed.',
  suppressed: 'This call was not recorded, or its recording was deleted for its age.',
}
