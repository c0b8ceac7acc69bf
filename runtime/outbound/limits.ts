import type { ConnectionShares } from './connections.ts'

/** Limits for requests to one provider. The configuration may replace them. */
export type OutboundLimits = {
  connectMs: number
  /** The longest time from the request to the status line of a streamed response. */
  firstByteMs: number
  /** The longest time between two chunks of a response. */
  idleMs: number
  /** The longest time for a whole response. */
  totalMs: number
  connectionsMax: number
  /** The limit for requests waiting for a connection. Further requests are refused. */
  queuedMax: number
  /** Divides the connections among organizations. */
  shares?: ConnectionShares
  /** The limit for bytes of a JSON response, or of a whole event stream. */
  answerBytesMax: number
  /** The limit for an audio stream's bytes. The stream is never in memory as a whole. */
  audioBytesMax: number
  /** The limit for characters in one unfinished server-sent event. */
  eventCharsMax: number
  /** The largest message on a socket. A larger message ends the socket. */
  frameBytesMax: number
  /**
   * The limit for bytes sent on a socket and not yet taken by its server. With more bytes, the socket is cut. Audio
   * streams have separate, lower limits, counted in the client's audio: 24 MiB are at most 32 MiB as base64.
   */
  bufferedBytesMax: number
  warmSockets: WarmSockets
}

/** Sockets opened before they are needed. */
export type WarmSockets = {
  /** Sockets kept open for a recently used route. 0 keeps no socket. */
  perRoute: number
  /** The limit for warm sockets to one provider, over all its routes and keys. */
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
  // Warm sockets are off unless the configuration enables them, because only a gateway closes unused sockets.
  warmSockets: { perRoute: 0, socketsMax: 32, routeMs: 300_000 },
}
