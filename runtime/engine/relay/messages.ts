/**
 * Messages between two processes on one machine: one process has accepted a client's socket, the other (the owner)
 * serves it. A message is its kind, its content's length, and the content:
 *
 *   kind u8 │ length u32, big-endian │ content
 */

export const kinds = {
  /** The accepting process's first message: the request, as JSON. */
  request: 1,
  /** The owner's first message if the socket opens: the organization for which the socket counts. */
  accepted: 2,
  /** The owner's first message if it refuses the socket: the refusal, as JSON. */
  refused: 3,
  /** One frame of the socket, in either direction. */
  text: 4,
  bytes: 5,
  /** The accepting process sends this if the client does not read its frames. */
  slow: 6,
  /** The owner closes the socket: the code as u16, then the reason. */
  close: 7,
} as const
export type Kind = (typeof kinds)[keyof typeof kinds]

const headBytes = 5

export function encode(kind: Kind, content: string | Uint8Array = ''): Buffer {
  const length = typeof content === 'string' ? Buffer.byteLength(content) : content.length
  const message = Buffer.allocUnsafe(headBytes + length)
  message[0] = kind
  message.writeUInt32BE(length, 1)
  if (typeof content === 'string') message.write(content, headBytes)
  else message.set(content, headBytes)
  return message
}

export function encodeClose(code: number, reason: string): Buffer {
  const content = Buffer.from(`00${reason}`)
  content.writeUInt16BE(code, 0)
  return encode(kinds.close, content)
}

export function readClose(content: Buffer): { code: number; reason: string } {
  return { code: content.readUInt16BE(0), reason: content.toString('utf8', 2) }
}

/** Finds the messages in a stream of chunks. */
export class MessageReader {
  readonly #bytesMax: number
  readonly #take: (kind: number, content: Buffer) => void
  #rest: Buffer = Buffer.alloc(0)

  /** `take` is called for each message. It may use `content` only until it returns. */
  constructor(bytesMax: number, take: (kind: number, content: Buffer) => void) {
    this.#bytesMax = bytesMax
    this.#take = take
  }

  /** Reads a chunk. Returns false if a message is too long. */
  push(chunk: Buffer): boolean {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    let from = 0
    while (bytes.length - from >= headBytes) {
      const length = bytes.readUInt32BE(from + 1)
      if (length > this.#bytesMax) return false
      const to = from + headBytes + length
      if (to > bytes.length) break
      this.#take(bytes[from] as number, bytes.subarray(from + headBytes, to))
      from = to
    }
    this.#rest = bytes.subarray(from)
    return true
  }
}
