/**
 * Receives a provider's events in one attempt to transcribe. It is an object instead of four closures, because a stream
 * keeps its sink for hours, and an object needs less memory.
 */
import type { ProviderError } from '../ports/provider-error.ts'
import type { StreamTranscript, SttStreamSink } from '../ports/stt.ts'

/** The receiver behind all sinks in a stream. It ignores all events except events from the newest sink. */
export interface AttemptListener {
  speechStarted(from: AttemptSink, startMs: number): void
  transcript(from: AttemptSink, transcript: StreamTranscript): void
  ended(from: AttemptSink, billedMs: number | undefined): void
  failed(from: AttemptSink, error: ProviderError): void
}

export class AttemptSink implements SttStreamSink {
  readonly #listener: AttemptListener

  constructor(listener: AttemptListener) {
    this.#listener = listener
  }

  speechStarted(startMs: number): void {
    this.#listener.speechStarted(this, startMs)
  }

  transcript(transcript: StreamTranscript): void {
    this.#listener.transcript(this, transcript)
  }

  ended(billedMs?: number): void {
    this.#listener.ended(this, billedMs)
  }

  failed(error: ProviderError): void {
    this.#listener.failed(this, error)
  }
}
