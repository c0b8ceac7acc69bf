/** Synthesizes one text over a vendor's socket. The audio is read from the returned queue. */
import type { ErrorClass } from '../../domain/ports/provider-error.ts'
import type { Clock } from '../../domain/ports/system.ts'
import type { OutboundLimits } from '../../runtime/outbound/limits.ts'
import type { OutboundSocket } from '../../runtime/outbound/socket.ts'
import { closeFailure, protocolError } from './failures.ts'
import type { JsonObject } from './json.ts'
import { jsonFrames } from './json-frames.ts'
import type { SocketTransport } from './socket.ts'
import { SpeechQueue } from './speech-queue.ts'

export type LiveTtsOptions = { sockets: SocketTransport; apiKey: string | null; clock: Clock; limits: OutboundLimits }

/** A vendor's protocol: handling received frames and ending the text. */
export type LiveTtsProtocol = {
  /** Handles one vendor frame. May throw a ProviderError. */
  frame: (frame: JsonObject, queue: SpeechQueue) => void
  /** True if the vendor sends audio in binary frames. If absent, binary frames are a protocol error. */
  binaryAudio?: true
  /** Returns the messages to cancel or end the text at the vendor, sent before the socket is closed. */
  farewell?: () => readonly string[]
  /** Returns the error class for a close before the text's end, or null if the connection was lost without a close. */
  classOfClose: (code: number, reason: string) => ErrorClass | null
}

export function receiveSpeech(
  socket: OutboundSocket,
  { apiKey, clock, limits }: Omit<LiveTtsOptions, 'sockets'>,
  protocol: LiveTtsProtocol,
  signal: AbortSignal,
): SpeechQueue {
  const queue = new SpeechQueue({
    clock,
    limits,
    signal,
    over: () => {
      for (const message of protocol.farewell?.() ?? []) socket.send(message)
      socket.close()
    },
  })
  socket.listen(
    jsonFrames({
      frame: (frame) => protocol.frame(frame, queue),
      ...(protocol.binaryAudio && { binary: (bytes: Uint8Array) => queue.push(bytes) }),
      failed: (error) => queue.fail(error),
      closed: (code, reason) => queue.fail(closeFailure(protocol.classOfClose(code, reason), code, reason, apiKey)),
    }),
  )
  return queue
}

/** Decodes samples from base64. Throws ProviderError `protocol` if the value is not a string. */
export function samplesOf(base64: unknown): Buffer {
  if (typeof base64 !== 'string') throw protocolError('audio that is not text')
  return Buffer.from(base64, 'base64')
}
