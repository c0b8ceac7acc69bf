/** The frame reader from `ws`. The package exports it without declaring its type. */
import type { Writable } from 'node:stream'
import * as ws from 'ws'

type ReceiverOptions = {
  isServer: boolean
  maxPayload: number
  /** The highest number of frames in one message. */
  maxFragments: number
  /** The maximum number of chunks to buffer until their frame is whole. */
  maxBufferedChunks: number
}

/**
 * Emits `message` (Buffer, isBinary), `ping` (Buffer), `pong` and `conclude` (code, reason), all within `write`. Emits
 * `error` if a frame breaks RFC 6455 or a limit.
 */
export const { Receiver } = ws as unknown as { Receiver: new (options: ReceiverOptions) => Writable }
