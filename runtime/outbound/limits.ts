/** Bounds of the requests to one provider. The configuration may set others. */
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
  /** A stream of audio, which is never in memory as a whole. */
  audioBytesMax: number
  /** One unfinished server-sent event. */
  eventCharsMax: number
  /** One message of a socket; a larger one ends it. */
  frameBytesMax: number
  /**
   * Bytes that a socket's server has not taken yet. With more the socket is given up. Streams of audio have their own,
   * lower limits, in audio of the client: 24 MiB of it are at most 32 MiB as base64.
   */
  bufferedBytesMax: number
  warmSockets: WarmSockets
}

/** Sockets that are opened before they are needed. */
export type WarmSockets = {
  /** Sockets kept open for a recently used route; 0 keeps none. */
  perRoute: number
  /** Sockets of one provider, over all its routes and keys. */
  socketsMax: number
  /** A use counts as recent for this long. */
  routeMs: number
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
  frameBytesMax: 4 * 1024 * 1024,
  bufferedBytesMax: 64 * 1024 * 1024,
  // The configuration turns them on. Without a gateway nothing would close the waiting sockets.
  warmSockets: { perRoute: 0, socketsMax: 32, routeMs: 300_000 },
}
