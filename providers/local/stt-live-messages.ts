/**
 * The messages between the child that recognizes streams and its parent. Many streams share one child, so each
 * message has an id.
 */
import type { StreamAudio, StreamTranscript } from '../../domain/ports/stt.ts'

export type StreamInput = {
  audio: StreamAudio
  interimResults: boolean
  endpointingMs: number
}

/** The messages of one stream are in order. `close` is always answered by `closed`, and `load` by nothing. */
export type ToStreamChild =
  | { type: 'load' }
  | { type: 'open'; id: number; input: StreamInput }
  | { type: 'audio'; id: number; bytes: Uint8Array }
  | { type: 'flush'; id: number }
  | { type: 'end'; id: number }
  | { type: 'close'; id: number }

/** `taken` has the weight of one frame (AudioLayout). `ended`, `failed` and `closed` end a stream. `message` contains no speech. */
export type FromStreamChild =
  | { type: 'opened'; id: number }
  | { type: 'taken'; id: number; weight: number }
  | { type: 'speechStarted'; id: number; startMs: number }
  | { type: 'transcript'; id: number; transcript: StreamTranscript }
  | { type: 'ended'; id: number }
  | { type: 'failed'; id: number; errorClass: 'bad_request' | 'server'; message: string }
  | { type: 'closed'; id: number }
