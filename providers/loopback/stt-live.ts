/**
 * Answers each audio frame at once with a transcript. Benchmarks use it to measure a frame's cost, so only the frame's
 * text is allocated here.
 */
import { bytesPerMs, isSampleEncoding } from '../../audio/pcm.ts'
import type { SttStream, SttStreamRequest, SttStreamSink } from '../../domain/ports/stt.ts'
import type { CancelSignal } from '../../domain/ports/system.ts'

/** The buffer for building a frame's text. All streams share it. */
const echoed = Buffer.allocUnsafe(24)
/**
 * The assumed duration for a compressed packet, because the duration is not known here; usually an Opus packet lasts 20
 * ms.
 */
const packetMs = 20

export class LoopbackStream implements SttStream {
  #closed = false
  readonly #interim: boolean
  /** The audio bytes in a millisecond. Zero for compressed audio. */
  readonly #bytesPerMs: number
  #bytes = 0
  #endMs = 0
  /** The last frame's text. Null if no frame arrived since the last final transcript. */
  #text: string | null = null
  #utterance = 0
  readonly #sink: SttStreamSink
  #startMs = 0
  readonly #signal: CancelSignal

  constructor({ audio, interimResults }: SttStreamRequest, sink: SttStreamSink, signal: CancelSignal) {
    this.#sink = sink
    this.#interim = interimResults
    const { encoding, sampleRateHz, channels } = audio
    this.#bytesPerMs = isSampleEncoding(encoding) ? bytesPerMs({ encoding, sampleRateHz, channels }) : 0
    this.#signal = signal
    signal.addEventListener('abort', this)
  }

  get bufferedBytes(): number {
    return 0
  }

  audio(bytes: Uint8Array): void {
    if (this.#closed || bytes.length === 0) return
    const text = textOf(bytes)
    const startMs = this.#endMs
    this.#text = text
    this.#bytes += bytes.length
    this.#endMs = this.#bytesPerMs === 0 ? startMs + packetMs : Math.round(this.#bytes / this.#bytesPerMs)
    if (this.#interim) this.#report(text, startMs, false)
  }

  flush(): void {
    if (this.#closed || this.#text === null) return
    this.#report(this.#text, this.#startMs, true)
    this.#utterance++
    this.#text = null
    this.#startMs = this.#endMs
  }

  end(): void {
    if (this.#closed) return
    this.flush()
    // The sink may have closed the stream while it received the final transcript.
    if (this.#closed) return
    this.close()
    this.#sink.ended(this.#endMs)
  }

  close(): void {
    this.#closed = true
    this.#signal.removeEventListener('abort', this)
  }

  /** Handles the cancel signal. */
  handleEvent(): void {
    this.close()
  }

  #report(text: string, startMs: number, isFinal: boolean): void {
    this.#sink.transcript({
      utterance: this.#utterance,
      text,
      isFinal,
      speechFinal: isFinal,
      startMs,
      endMs: this.#endMs,
    })
  }
}

function textOf(bytes: Uint8Array): string {
  const length = Math.min(bytes.length, echoed.length)
  for (let i = 0; i < length; i++) echoed[i] = bytes[i]!
  return echoed.toString('base64', 0, length)
}
