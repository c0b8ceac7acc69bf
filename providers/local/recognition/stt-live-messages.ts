/**
 * The messages between the child process for live streams and its parent. Many streams share one child, so each message
 * has an id.
 */
import type { StreamAudio, StreamTranscript } from '../../../domain/ports/stt.ts'

export type StreamInput = {
  audio: StreamAudio
  /** The requested base language, or null if the model finds the language. */
  language: string | null
  interimResults: boolean
  endpointingMs: number
}

/**
 * Messages to the child. A stream's messages keep their order. `close` is always answered with `closed`, and `load` has
 * no answer.
 */
export type ToStreamChild =
  | { type: 'load' }
  | { type: 'open'; id: number; input: StreamInput }
  | { type: 'audio'; id: number; bytes: Uint8Array }
  | { type: 'flush'; id: number }
  | { type: 'end'; id: number }
  | { type: 'close'; id: number }

/**
 * Messages from the child. `taken` reports that the child has read a frame, with the frame's size for the buffer limit
 * (AudioLayout). `ended`, `failed` and `closed` end a stream. The error text in `message` contains no speech.
 */
export type FromStreamChild =
  | { type: 'opened'; id: number }
  | { type: 'taken'; id: number; weight: number }
  | { type: 'speechStarted'; id: number; startMs: number }
  | { type: 'transcript'; id: number; transcript: StreamTranscript }
  | { type: 'ended'; id: number }
  | { type: 'failed'; id: number; errorClass: 'bad_request' | 'server'; message: string }
  | { type: 'closed'; id: number }
