/** Encodes a server's frames: whole and not masked. RFC 6455, 5.2. */

/** Encodes a message as one frame. `message` is copied. A string is a text frame. */
export function encodeMessage(message: string | Uint8Array, isBinary: boolean): Buffer {
  const opcode = isBinary ? binaryOpcode : textOpcode
  if (typeof message !== 'string') return encode(opcode, message)
  const bytes = Buffer.byteLength(message)
  const frame = head(opcode, bytes)
  frame.write(message, frame.length - bytes, bytes, 'utf8')
  return frame
}

/** Encodes a close frame. With `code` 1005 it has no code. */
export function encodeClose(code: number, reason: string): Buffer {
  if (code === noCode) return encode(closeOpcode, empty)
  const payload = Buffer.alloc(2 + Buffer.byteLength(reason))
  payload.writeUInt16BE(code)
  payload.write(reason, 2)
  return encode(closeOpcode, payload)
}

export function encodePong(payload: Uint8Array): Buffer {
  return encode(pongOpcode, payload)
}

const textOpcode = 1
const binaryOpcode = 2
const closeOpcode = 8
const pongOpcode = 10
const noCode = 1005
const empty = new Uint8Array(0)

/** An empty ping. */
export const ping: Buffer = Buffer.from([0x89, 0])

function encode(opcode: number, payload: Uint8Array): Buffer {
  const frame = head(opcode, payload.length)
  frame.set(payload, frame.length - payload.length)
  return frame
}

/** Returns a buffer for the whole frame, with its head written. */
function head(opcode: number, bytes: number): Buffer {
  if (bytes < 126) {
    const frame = Buffer.allocUnsafe(2 + bytes)
    frame[0] = last | opcode
    frame[1] = bytes
    return frame
  }
  if (bytes < 65_536) {
    const frame = Buffer.allocUnsafe(4 + bytes)
    frame[0] = last | opcode
    frame[1] = 126
    frame.writeUInt16BE(bytes, 2)
    return frame
  }
  const frame = Buffer.allocUnsafe(10 + bytes)
  frame[0] = last | opcode
  frame[1] = 127
  frame.writeUInt32BE(Math.floor(bytes / 2 ** 32), 2)
  frame.writeUInt32BE(bytes % 2 ** 32, 6)
  return frame
}

/** The FIN bit: marks a message's last frame. */
const last = 0x80
