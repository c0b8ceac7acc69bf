/** Bounds of the calls to one provider. Configuration may name others. */
export type OutboundLimits = {
  connectMs: number
  /** From the request to the status line of a streamed answer. */
  firstByteMs: number
  /** Between two chunks of an answer. */
  idleMs: number
  /** A whole answer. */
  totalMs: number
  connectionsMax: number
  /** Requests that wait for a connection; one more is refused. */
  queuedMax: number
  /** A JSON answer, or all of an event stream. */
  answerBytesMax: number
  /** A stream of audio, which is never held whole. */
  audioBytesMax: number
  /** One unfinished server-sent event. */
  eventCharsMax: number
}

export const outboundDefaults: OutboundLimits = {
  connectMs: 5_000,
  firstByteMs: 30_000,
  idleMs: 30_000,
  totalMs: 600_000,
  connectionsMax: 256,
  queuedMax: 256,
  answerBytesMax: 16 * 1024 * 1024,
  audioBytesMax: 512 * 1024 * 1024,
  eventCharsMax: 1024 * 1024,
}
