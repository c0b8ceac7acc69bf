import { createHash, type Hash, hash } from 'node:crypto'
import type { Bytes } from '../engine/handler.ts'
import { readJson, readLargeJson } from '../engine/json.ts'
import type { Validate } from '../engine/operation.ts'
import type { Content } from './content.ts'

/** A JSON body larger than this is read in several turns of the event loop: see `readLargeJson`. */
const largeBytes = 1_048_576

/** A body without parts: JSON or bytes, hashed exactly as sent. */
export class RawContent implements Content {
  readonly #contentType: string
  readonly #isJson: boolean
  readonly #chunks: Buffer[] = []
  #bytes = 0
  #hashing: Hash | null = null
  #hash = ''

  /** `contentType` is kept as sent, because its parameters name the sample rate for raw audio. */
  constructor(contentType: string, isJson: boolean) {
    this.#contentType = contentType
    this.#isJson = isJson
  }

  take(chunk: Buffer, last: boolean): void {
    this.#chunks.push(chunk)
    this.#bytes += chunk.length
    // Most bodies have one chunk. Such a body is hashed in one call, and only if the hash is read.
    if (last && this.#hashing === null) return
    this.#hashing = (this.#hashing ?? createHash('sha256')).update(chunk)
  }

  get hash(): string {
    if (this.#hash === '') this.#hash = this.#hashing?.digest('hex') ?? hash('sha256', this.#chunks[0] ?? '', 'hex')
    return this.#hash
  }

  finish(): undefined {}

  destroy(): void {
    this.#chunks.length = 0
  }

  read(validate: Validate | null, owner: string): unknown {
    if (!this.#isJson) return this.#asBytes()
    const bytes = this.#joined()
    return bytes.length > largeBytes ? readLargeJson(bytes, validate, owner) : readJson(bytes, validate)
  }

  rawBody(): Uint8Array {
    return this.#joined()
  }

  #joined(): Buffer {
    if (this.#chunks.length !== 1) this.#chunks.splice(0, this.#chunks.length, Buffer.concat(this.#chunks))
    return this.#chunks[0] as Buffer
  }

  #asBytes(): Bytes {
    return { chunks: this.#chunks, bytes: this.#bytes, contentType: this.#contentType }
  }
}
