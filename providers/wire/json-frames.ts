/** One JSON object in each text frame, as nearly every vendor's socket speaks. */
import { ProviderError } from '../../domain/ports/provider-error.ts'
import type { OutboundSocketListener } from '../../runtime/outbound/socket.ts'
import { protocolError } from './failures.ts'
import { isObject, type JsonObject } from './json.ts'

/** Calls come in order; `failed` or `closed` is the last. */
export interface JsonFrameListener {
  /** May throw a ProviderError (`throw protocolError('…')`): it goes to `failed`. */
  frame(frame: JsonObject): void
  /** The bytes are the listener's. Absent: this vendor speaks text only, and bytes are a protocol error. */
  binary?(bytes: Uint8Array): void
  /** A frame that is not what was agreed. The socket is still open, and its owner closes it. */
  failed(error: ProviderError): void
  /** As OutboundSocketListener has it. */
  closed(code: number, reason: string): void
}

/** For `socket.listen`. No frame of a vendor can throw through it into the process. */
export function jsonFrames(listener: JsonFrameListener): OutboundSocketListener {
  let failed = false
  const fail = (error: unknown) => {
    failed = true
    // A frame of another shape than expected surfaces as a TypeError of the code that reads it.
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
    value = JSON.parse(text)
  } catch {
    // The parser's message quotes what the vendor said, which can be speech.
    throw protocolError('a frame that is not JSON')
  }
  if (!isObject(value)) throw protocolError('a frame that is no object')
  return value
}
