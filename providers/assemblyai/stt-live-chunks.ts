/**
 * Cuts and joins audio for this vendor, because it refuses frames under 50 ms or over 1000 ms. Callers send a frame
 * every 20 ms.
 */
import type { StreamAudio } from '../../domain/ports/stt.ts'

const chunkMsMin = 50
const chunkMsMax = 1000

export class Chunks {
  readonly #send: (chunk: Uint8Array) => void
  readonly #bytesPerMs: number
  readonly #silence: number
  readonly #bytesMax: number
  readonly #held: Buffer
  #heldBytes = 0

  /** `audio` is mono s16le or µ-law. `send` must not keep the chunk after it returns. */
  constructor({ encoding, sampleRateHz }: StreamAudio, send: (chunk: Uint8Array) => void) {
    const sampleBytes = encoding === 'mulaw' ? 1 : 2
    this.#send = send
    this.#silence = encoding === 'mulaw' ? 0xff : 0
    this.#bytesPerMs = (sampleBytes * sampleRateHz) / 1000
    this.#held = Buffer.alloc(Math.ceil((chunkMsMin * sampleRateHz) / 1000) * sampleBytes)
    this.#bytesMax = Math.floor((chunkMsMax * sampleRateHz) / 1000) * sampleBytes
  }

  push(bytes: Uint8Array): void {
    let rest = bytes
    while (rest.length > 0) rest = rest.subarray(this.#take(rest))
  }

  /** Sends the held bytes, filled up with silence to the minimum. Returns the milliseconds of silence. */
  flush(): number {
    if (this.#heldBytes === 0) return 0
    const added = this.#held.length - this.#heldBytes
    this.#held.fill(this.#silence, this.#heldBytes)
    this.#sendHeld()
    return added / this.#bytesPerMs
  }

  /** Returns how many bytes were taken. */
  #take(bytes: Uint8Array): number {
    const least = this.#held.length
    if (this.#heldBytes === 0 && bytes.length >= least) {
      const taken = Math.min(bytes.length, this.#bytesMax)
      this.#send(bytes.subarray(0, taken))
      return taken
    }
    const taken = Math.min(bytes.length, least - this.#heldBytes)
    this.#held.set(bytes.subarray(0, taken), this.#heldBytes)
    this.#heldBytes += taken
    if (this.#heldBytes === least) this.#sendHeld()
    return taken
  }

  #sendHeld(): void {
    this.#heldBytes = 0
    this.#send(this.#held)
  }
}
