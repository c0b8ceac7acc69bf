/**
 * The messages between the child for streams and its parent. Many streams share one child, so each message has an id.
 */
import type { StreamAudio, StreamTranscript } from '../../domain/ports/stt.ts'

export type StreamInput = {
  audio: StreamAudio
  interimResults: boolean
  endpointingMs: number
}

/** One stream's messages are in order. The answer to `close` is always `closed`. `load` has no answer. */
export type ToStreamChild =
  | { type: 'load' }
  | { type: 'open'; id: number; input: StreamInput }
  | { type: 'audio'; id: number; bytes: Uint8Array }
  | { type: 'flush'; id: number }
  | { type: 'end'; id: number }
  | { type: 'close'; id: number }

/**
 * `taken` reports that the child has read a frame, with its weight (AudioLayout). `ended`, `failed` and `closed` end a
 * stream. `message` contains no speech.
 */
export type FromStreamChild =
  | { type: 'opened'; id: number }
  | { type: 'taken'; id: number; weight: number }
  | { type: 'speechStarted'; id: number; startMs: number }
  | { type: 'transcript'; id: number; transcript: StreamTranscript }
  | { type: 'ended'; id: number }
  | { type: 'failed'; id: number; errorClass: 'bad_request' | 'server'; message: string }
  | { type: 'closed'; id: number }
