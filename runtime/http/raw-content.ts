import { createHash, type Hash, hash } from 'node:crypto'
import type { Bytes } from '../engine/handler.ts'
import { readJson } from '../engine/json.ts'
import type { Validate } from '../engine/operation.ts'
import type { Content } from './receive.ts'

/** A body of one part: JSON, or bytes that stay bytes. Hashed exactly as sent. */
export class RawContent implements Content {
  readonly #contentType: string
  readonly #isJson: boolean
  readonly #chunks: Buffer[] = []
  #bytes = 0
  #hashing: Hash | null = null
  #hash = ''

  /** `contentType` as it was sent: its parameters say the rate of raw audio. */
  constructor(contentType: string, isJson: boolean) {
    this.#contentType = contentType
    this.#isJson = isJson
  }

  take(chunk: Buffer, last: boolean): void {
    this.#chunks.push(chunk)
    this.#bytes += chunk.length
    // A body of one chunk, as most are, is hashed in one call and only where somebody asks.
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

  read(validate: Validate | null): unknown {
    if (!this.#isJson) return this.#asBytes()
    return readJson(this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks), validate)
  }

  #asBytes(): Bytes {
    return { chunks: this.#chunks, bytes: this.#bytes, contentType: this.#contentType }
  }
}
