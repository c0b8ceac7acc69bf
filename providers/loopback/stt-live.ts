/** Answers each frame while it is being handed over. A bench counts what a frame costs: nothing is made here for one but its text. */
import { isSampleEncoding, sampleEncodings } from '../../audio/pcm.ts'
import type { CancelSignal } from '../../domain/ports/system.ts'
import type { StreamAudio, SttStream, SttStreamRequest, SttStreamSink } from '../../domain/speech/stt.ts'

/** Where the text of a frame is made: one for all streams. */
const echoed = Buffer.allocUnsafe(24)
/** Compressed audio does not say how long it is: one packet of Opus is 20 ms in practice. */
const packetMs = 20

export class LoopbackStream implements SttStream {
  #closed = false
  readonly #interim: boolean
  /** Zero where bytes do not tell. */
  readonly #bytesPerMs: number
  #bytes = 0
  #endMs = 0
  /** Of the last frame; null: nothing was said since the last final. */
  #text: string | null = null
  #utterance = 0
  readonly #sink: SttStreamSink
  #startMs = 0
  readonly #signal: CancelSignal

  constructor({ audio, interimResults }: SttStreamRequest, sink: SttStreamSink, signal: CancelSignal) {
    this.#sink = sink
    this.#interim = interimResults
    this.#bytesPerMs = bytesPerMs(audio)
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
    if (this.#interim) this.#tell(text, startMs, false)
  }

  flush(): void {
    if (this.#closed || this.#text === null) return
    this.#tell(this.#text, this.#startMs, true)
    this.#utterance++
    this.#text = null
    this.#startMs = this.#endMs
  }

  end(): void {
    if (this.#closed) return
    this.flush()
    // A listener may close it for the final.
    if (this.#closed) return
    this.close()
    this.#sink.ended(this.#endMs)
  }

  close(): void {
    this.#closed = true
    this.#signal.removeEventListener('abort', this)
  }

  /** The caller has left. */
  handleEvent(): void {
    this.close()
  }

  #tell(text: string, startMs: number, isFinal: boolean): void {
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
  const held = Math.min(bytes.length, echoed.length)
  for (let i = 0; i < held; i++) echoed[i] = bytes[i]!
  return echoed.toString('base64', 0, held)
}

function bytesPerMs({ encoding, sampleRateHz, channels }: StreamAudio): number {
  return isSampleEncoding(encoding) ? (sampleEncodings[encoding].bytes * channels * sampleRateHz) / 1000 : 0
}
