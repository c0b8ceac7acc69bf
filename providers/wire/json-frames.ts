/** Reads sockets with one JSON object in each text frame, as used by nearly every vendor. */
import { ProviderError } from '../../domain/ports/provider-error.ts'
import type { OutboundSocketListener } from '../../runtime/outbound/socket.ts'
import { protocolError } from './failures.ts'
import { isObject, type JsonObject, parseVendorJson } from './json.ts'

/** Receives the frames in order. The last call is `failed` or `closed`. */
export interface JsonFrameListener {
  /** Handles a frame. May throw a ProviderError (`throw protocolError('…')`), and `failed` then receives it. */
  frame(frame: JsonObject): void
  /**
   * Handles binary data. The listener may keep the bytes. Absent if this vendor sends text only; binary data is then a
   * protocol error.
   */
  binary?(bytes: Uint8Array): void
  /**
   * Called if a frame breaks the vendor's protocol. The socket is still open, and the code that opened the socket must
   * close it.
   */
  failed(error: ProviderError): void
  /** Called when the socket has closed, as for OutboundSocketListener. */
  closed(code: number, reason: string): void
}

/**
 * Makes the argument for `socket.listen`. An error while handling a frame is passed to `failed` and never ends the
 * process.
 */
export function jsonFrames(listener: JsonFrameListener): OutboundSocketListener {
  let failed = false
  const fail = (error: unknown) => {
    failed = true
    // A TypeError here means the frame has an unexpected shape, so it becomes a protocol error.
    listener.failed(error instanceof ProviderError ? error : protocolError(error))
  }
  return {
    text(text) {
      if (failed) return
      try {
        listener.frame(parse(text))
      } catch (error) {
        fail(error)
      }
    },
    binary(bytes) {
      if (failed) return
      if (!listener.binary) return fail(protocolError('bytes where text was due'))
      try {
        listener.binary(bytes)
      } catch (error) {
        fail(error)
      }
    },
    closed(code, reason) {
      if (!failed) listener.closed(code, reason)
    },
  }
}

function parse(text: string): JsonObject {
  let value: unknown
  try {
    value = parseVendorJson(text)
  } catch {
    // The parser's error is dropped, because its message quotes the frame, and a frame can contain speech.
    throw protocolError('a frame that is not JSON')
  }
  if (!isObject(value)) throw protocolError('a frame that is no object')
  return value
}
