/** The messages between a speech child and its parent. A child has one job at a time, so messages carry no id. */
import type { AudioFormat } from '../../audio/format.ts'
import type { FliteSpeech } from './flite.ts'

export type SttInput = { format: AudioFormat; durationMs: number }
/**
 * Asks the child to load its models and do a first piece of work, because the first piece takes much longer than the
 * next.
 */
export type WarmInput = { warm: true }
/** The audio arrives as for SttInput. The speech follows this text and may be cut at any place. */
export type AlignInput = SttInput & { alignText: string }
/** See `Aligner`. */
export type AlignOutput = { place: number }
export type SttOutput = { segments: { text: string; startMs: number; endMs: number }[] }

export type TtsInput = { text: string; voice: string; speed: number }
/** The samples are 16 kHz, mono. */
export type TtsOutput = FliteSpeech

/** A `piece` or `ended` answers one `more`. So the child never receives more audio than it requested. */
export type ToSpeechChild =
  | { type: 'start'; input: unknown }
  | { type: 'piece'; bytes: Uint8Array }
  | { type: 'ended' }
  | { type: 'stop' }

/** `done` and `failed` end the job. `message` never contains the request's text or audio. */
export type FromSpeechChild =
  | { type: 'more' }
  | { type: 'progress'; doneMs: number }
  | { type: 'done'; output: unknown }
  | { type: 'failed'; errorClass: 'bad_request' | 'server'; message: string }
