/** Reads a call's record: its transcript, its spans, and both voices in its recording. */
import { setTimeout as sleep } from 'node:timers/promises'
import { ChunkedBytes } from '../../audio/chunked-bytes.ts'
import { readWav } from '../../audio/wav.ts'
import { bytes, fmt, riff } from '../audio/build.ts'
import { call } from '../platform/setup.ts'
import { passing, send, type Target } from '../router/requests.ts'

export type RecordedTurn = {
  source: 'user' | 'agent'
  text: string
} & Record<'heard_text' | 'latency_status', string | null>
export type RecordedSpan = {
  kind: string
  start_ms: number
  duration_ms: number
  critical_ms: number
  attributes: Record<string, unknown>
  children: RecordedSpan[]
}
export type RecordedCall = {
  recording_status: string | null
  transcript: { entries: RecordedTurn[] }
  span_tree: { spans: RecordedSpan[] }
  report: object | null
}
export type Voices = { caller: Int16Array; agent: Int16Array }

export const recordingRateHz = 16_000

/** Returns the call once its recording and its call report are complete. */
export async function endedCall(target: Target, id: string): Promise<RecordedCall> {
  for (let tries = 0; ; tries++) {
    const answer = await call(target, 'GET', `/v1/calls/${id}`)
    const row = answer.json<RecordedCall>()
    if (row.recording_status === 'ready' && row.report !== null) return row
    if (tries > 200) throw new Error(`no recording of a call: ${row.recording_status}`)
    await sleep(50)
  }
}

export async function voicesOf(target: Target, id: string): Promise<Voices> {
  const asked = fetch(`${target.url}/v1/calls/${id}/recording/audio`, {
    headers: { authorization: `Bearer ${target.key}` },
  })
  const bytes = await passing(
    target,
    asked.then((answer) => answer.arrayBuffer()),
  )
  return voicesIn(new Uint8Array(bytes))
}

/** Returns the caller's and the agent's audio in a recording. */
export function voicesIn(wav: Uint8Array): Voices {
  const { dataOffset, dataBytes } = readWav(new ChunkedBytes([wav]))
  const both = new Int16Array(wav.slice(dataOffset, dataOffset + dataBytes).buffer)
  const voices = { caller: new Int16Array(both.length / 2), agent: new Int16Array(both.length / 2) }
  for (let at = 0; at < voices.caller.length; at++) {
    voices.caller[at] = both[2 * at]!
    voices.agent[at] = both[2 * at + 1]!
  }
  return voices
}

/** One sound, in milliseconds from the recording's start. */
export type Sound = { startMs: number; endMs: number }

/** Divides a voice into sounds with at least `gapMs` of silence between them. */
export function soundsOf(voice: Int16Array, gapMs = 700): Sound[] {
  const sounds: Sound[] = []
  for (let at = 0; at < voice.length; at++) {
    if (Math.abs(voice[at]!) < loud) continue
    const ms = (at * 1000) / recordingRateHz
    const last = sounds.at(-1)
    if (last === undefined || ms - last.endMs > gapMs) sounds.push({ startMs: ms, endMs: ms })
    else last.endMs = ms
  }
  return sounds
}

/** Transcribes a voice with the embedded engine. */
export async function wordsOf(target: Target, voice: Int16Array, rateHz = recordingRateHz): Promise<string> {
  const data = new Uint8Array(voice.buffer, voice.byteOffset, voice.byteLength)
  const wav = riff([
    ['fmt ', bytes(fmt(1, 1, rateHz, 16))],
    ['data', data],
  ])
  const form = new FormData()
  form.append('model', 'auto')
  form.append('file', new Blob([wav]), 'voice.wav')
  const answer = await send(target, '/v1/audio/transcriptions', { method: 'POST', body: form })
  if (answer.status !== 200) throw new Error(answer.text)
  return answer.json<{ text: string }>().text
}

/** Quieter samples are silence: -44 dB against full scale, and -38 dB against the quietest voice. */
const loud = 200
