/**
 * Finds Postgres protocol messages in the bytes of one direction: a type (missing in a client's first message), a
 * length, a body.
 */

const headBytes = 5
const notification = 'A'.charCodeAt(0)
/** Longer bodies are cut. A notifying statement shows itself within this length, and a notification is shorter. */
const keptBytesMax = 16_384

export class Messages {
  readonly #found: (type: string, body: string) => void
  readonly #head = Buffer.alloc(headBytes)
  readonly #of: 'client' | 'server'
  /** The received bytes of the head. The first byte is the type. */
  #headBytes: number
  #bodyBytes = 0
  #body = ''

  constructor(of: 'client' | 'server', found: (type: string, body: string) => void) {
    this.#found = found
    this.#of = of
    this.#headBytes = of === 'client' ? 1 : 0
  }

  push(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; ) {
      if (this.#headBytes < headBytes) {
        this.#head[this.#headBytes++] = bytes[at++] as number
        if (this.#headBytes === headBytes) this.#bodyBytes = this.#head.readUInt32BE(1) - 4
      } else {
        const part = bytes.subarray(at, at + this.#bodyBytes)
        if (this.#isKept && this.#body.length < keptBytesMax) this.#body += part.toString('latin1')
        this.#bodyBytes -= part.length
        at += part.length
      }
      if (this.#headBytes === headBytes && this.#bodyBytes === 0) this.#end()
    }
  }

  /** A server's messages are only read for notifications. */
  get #isKept(): boolean {
    return this.#of === 'client' || this.#head[0] === notification
  }

  #end(): void {
    const body = this.#body
    this.#body = ''
    this.#headBytes = 0
    this.#found(String.fromCharCode(this.#head[0] as number), body)
    this.#head[0] = 0
  }
}
