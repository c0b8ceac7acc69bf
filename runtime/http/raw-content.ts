import { createHash, type Hash, hash } from 'node:crypto'
import type { Bytes } from './handler.ts'
import { readJson } from './json-body.ts'
import type { Validate } from './operation.ts'
import type { Content } from './receive.ts'

/** A body of one part: JSON, or bytes that stay bytes. Hashed exactly as sent. */
export class RawContent implements Content {
  hash = ''
  readonly #contentType: string
  readonly #isJson: boolean
  readonly #chunks: Buffer[] = []
  #bytes = 0
  #hash: Hash | null = null

  /** `contentType` as it was sent: its parameters say the rate of raw audio. */
  constructor(contentType: string, isJson: boolean) {
    this.#contentType = contentType
    this.#isJson = isJson
  }

  take(chunk: Buffer, last: boolean): void {
    this.#chunks.push(chunk)
    this.#bytes += chunk.length
    // Most bodies are one chunk; hashing in one call costs half.
    if (last && this.#hash === null) this.hash = hash('sha256', chunk, 'hex')
    else this.#hash = (this.#hash ?? createHash('sha256')).update(chunk)
  }

  finish(): undefined {
    if (this.#hash) this.hash = this.#hash.digest('hex')
  }

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
