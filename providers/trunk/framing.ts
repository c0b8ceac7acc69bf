/** Splits a TCP connection's bytes into SIP messages. Each message's headers announce the body's length. */
import { contentLengthOf, headBytesMax, messageBytesMax } from './message.ts'

const empty = Buffer.alloc(0)

export class Framing {
  #bytes: Buffer = empty

  /** The remaining bytes, not a complete message yet. */
  get rest(): Buffer {
    return this.#bytes
  }

  /**
   * Adds the bytes and returns all complete messages. Returns `broken` if the bytes are not SIP, or if a message is too
   * long. The connection must then be closed, because later bytes cannot be read either.
   */
  take(chunk: Buffer): Buffer[] | 'broken' {
    this.#bytes = this.#bytes.length === 0 ? chunk : Buffer.concat([this.#bytes, chunk])
    const messages: Buffer[] = []
    for (;;) {
      this.#dropLineBreaks()
      const headEnd = this.#bytes.indexOf('\r\n\r\n')
      if (headEnd < 0) return this.#bytes.length > headBytesMax ? 'broken' : messages
      if (headEnd > headBytesMax) return 'broken'
      const bodyLength = contentLengthOf(this.#bytes.toString('latin1', 0, headEnd))
      if (bodyLength === null) return 'broken'
      const end = headEnd + 4 + bodyLength
      if (end > messageBytesMax) return 'broken'
      if (this.#bytes.length < end) return messages
      messages.push(this.#bytes.subarray(0, end))
      this.#bytes = this.#bytes.subarray(end)
    }
  }

  /** Drops line breaks between messages. A peer sends them to keep the connection open (RFC 5626). */
  #dropLineBreaks(): void {
    let at = 0
    while (this.#bytes[at] === 13 || this.#bytes[at] === 10) at++
    if (at > 0) this.#bytes = this.#bytes.subarray(at)
  }
}
