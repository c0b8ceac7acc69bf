/** What a speech child and its parent say to each other. One job at a time, so nothing carries an id. */
import type { AudioFormat } from '../../audio/format.ts'

export type SttInput = { format: AudioFormat; durationMs: number }
export type SttOutput = { segments: { text: string; startMs: number; endMs: number }[] }

export type TtsInput = { text: string; voice: string; speed: number }
/** s16le, 16 kHz, mono. */
export type TtsOutput = { samples: Uint8Array }

/** A `piece` or `ended` answers one `more`: the child never has more audio than it asked for. */
export type ToSpeechChild =
  | { type: 'start'; input: unknown }
  | { type: 'piece'; bytes: Uint8Array }
  | { type: 'ended' }
  | { type: 'stop' }

/** `done` and `failed` end the job. `message` holds nothing of the content. */
export type FromSpeechChild =
  | { type: 'more' }
  | { type: 'progress'; doneMs: number }
  | { type: 'done'; output: unknown }
  | { type: 'failed'; errorClass: 'bad_request' | 'server'; message: string }
