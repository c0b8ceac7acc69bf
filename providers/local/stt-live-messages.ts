/** What the recogniser of streams and its parent say to each other. Many streams share one child, so everything carries an id. */
import type { SampleEncoding } from '../../audio/pcm.ts'
import type { StreamTranscript } from '../../domain/speech/stt.ts'

export type StreamInput = {
  audio: { encoding: SampleEncoding; sampleRateHz: number; channels: number }
  interimResults: boolean
  endpointingMs: number
}

/** Calls of one stream are in order; `close` is answered by `closed`, whatever else is under way. */
export type ToStreamChild =
  | { type: 'open'; id: number; input: StreamInput }
  | { type: 'audio'; id: number; bytes: Uint8Array }
  | { type: 'flush'; id: number }
  | { type: 'end'; id: number }
  | { type: 'close'; id: number }

/** `ended`, `failed` and `closed` end a stream. `message` holds nothing of the content. */
export type FromStreamChild =
  | { type: 'opened'; id: number }
  | { type: 'taken'; id: number; bytes: number }
  | { type: 'speechStarted'; id: number; startMs: number }
  | { type: 'transcript'; id: number; transcript: StreamTranscript }
  | { type: 'ended'; id: number }
  | { type: 'failed'; id: number; message: string }
  | { type: 'closed'; id: number }
