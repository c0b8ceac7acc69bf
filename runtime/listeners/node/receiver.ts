/** The reader of frames of `ws`. Its types do not declare it, although the package exports it. */
import type { Writable } from 'node:stream'
import * as ws from 'ws'

type ReceiverOptions = {
  isServer: boolean
  maxPayload: number
  /** Frames of one message. */
  maxFragments: number
  /** Reads of the socket that wait for the rest of a frame. */
  maxBufferedChunks: number
}

/**
 * Emits `message` (Buffer, isBinary), `ping` (Buffer), `pong` and `conclude` (code, reason), all of them within `write`.
 * Emits `error` for what breaks RFC 6455 or is over a limit.
 */
export const { Receiver } = ws as unknown as { Receiver: new (options: ReceiverOptions) => Writable }
