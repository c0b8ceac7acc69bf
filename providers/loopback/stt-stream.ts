/** Answers each frame while it is being handed over. A bench counts what a frame costs: nothing is made here for one but its text. */
import { isSampleEncoding, sampleEncodings } from '../../audio/pcm.ts'
import type { Departure } from '../../domain/ports.ts'
import type { StreamAudio, SttStream, SttStreamRequest, SttStreamSink } from '../../domain/speech/stt-stream.ts'

const echoedBytes = 24
/** Compressed audio does not say how long it is: one packet of Opus is 20 ms in practice. */
const packetMs = 20

export class LoopbackStream implements SttStream {
  readonly bufferedBytes = 0
  readonly #sink: SttStreamSink
  readonly #interim: boolean
  /** Zero where bytes do not tell. */
  readonly #bytesPerMs: number
  readonly #echoed = Buffer.allocUnsafe(echoedBytes)
  /** Of `#echoed`; none: nothing was said since the last final. */
  #held = 0
  #utterance = 0
  #bytes = 0
  #startMs = 0
  #endMs = 0
  #closed = false
  readonly #signal: Departure

  constructor({ audio, interimResults }: SttStreamRequest, sink: SttStreamSink, signal: Departure) {
    this.#sink = sink
    this.#interim = interimResults
    this.#bytesPerMs = bytesPerMs(audio)
    this.#signal = signal
    signal.addEventListener('abort', this)
  }

  audio(bytes: Uint8Array): void {
    if (this.#closed || bytes.length === 0) return
    this.#held = Math.min(bytes.length, echoedBytes)
    for (let i = 0; i < this.#held; i++) this.#echoed[i] = bytes[i]!
    const startMs = this.#endMs
    this.#bytes += bytes.length
    this.#endMs = this.#bytesPerMs === 0 ? startMs + packetMs : Math.round(this.#bytes / this.#bytesPerMs)
    if (this.#interim) this.#tell(startMs, false)
  }

  flush(): void {
    if (this.#closed || this.#held === 0) return
    this.#tell(this.#startMs, true)
    this.#utterance++
    this.#held = 0
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

  #tell(startMs: number, isFinal: boolean): void {
    const text = this.#echoed.toString('base64', 0, this.#held)
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

function bytesPerMs({ encoding, sampleRateHz, channels }: StreamAudio): number {
  return isSampleEncoding(encoding) ? (sampleEncodings[encoding].bytes * channels * sampleRateHz) / 1000 : 0
}
