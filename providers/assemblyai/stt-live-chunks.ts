/**
 * Cuts and joins audio, because this vendor refuses frames under 50 ms or over 1000 ms, but clients usually send 20 ms
 * frames.
 */
import type { StreamAudio } from '../../domain/ports/stt.ts'

const chunkMsMin = 50
const chunkMsMax = 1000

export class Chunks {
  readonly #send: (chunk: Uint8Array) => void
  readonly #bytesPerMs: number
  readonly #silence: number
  readonly #bytesMax: number
  readonly #buffer: Buffer
  #bufferedBytes = 0

  /** `audio` is mono s16le or µ-law. `send` must not use the chunk after it has returned. */
  constructor({ encoding, sampleRateHz }: StreamAudio, send: (chunk: Uint8Array) => void) {
    const sampleBytes = encoding === 'mulaw' ? 1 : 2
    this.#send = send
    this.#silence = encoding === 'mulaw' ? 0xff : 0
    this.#bytesPerMs = (sampleBytes * sampleRateHz) / 1000
    this.#buffer = Buffer.alloc(Math.ceil((chunkMsMin * sampleRateHz) / 1000) * sampleBytes)
    this.#bytesMax = Math.floor((chunkMsMax * sampleRateHz) / 1000) * sampleBytes
  }

  push(bytes: Uint8Array): void {
    let rest = bytes
    while (rest.length > 0) rest = rest.subarray(this.#take(rest))
  }

  /**
   * Sends the waiting bytes, filled up with silence to the minimum length. Returns the added silence in milliseconds.
   */
  flush(): number {
    if (this.#bufferedBytes === 0) return 0
    const added = this.#buffer.length - this.#bufferedBytes
    this.#buffer.fill(this.#silence, this.#bufferedBytes)
    this.#sendBuffer()
    return added / this.#bytesPerMs
  }

  /** Copies bytes from the beginning, and returns the number copied. */
  #take(bytes: Uint8Array): number {
    const least = this.#buffer.length
    if (this.#bufferedBytes === 0 && bytes.length >= least) {
      const consumed = Math.min(bytes.length, this.#bytesMax)
      this.#send(bytes.subarray(0, consumed))
      return consumed
    }
    const consumed = Math.min(bytes.length, least - this.#bufferedBytes)
    this.#buffer.set(bytes.subarray(0, consumed), this.#bufferedBytes)
    this.#bufferedBytes += consumed
    if (this.#bufferedBytes === least) this.#sendBuffer()
    return consumed
  }

  #sendBuffer(): void {
    this.#bufferedBytes = 0
    this.#send(this.#buffer)
  }
}
