import type { CancelSignal } from './cancel-signal.ts'
import type { LogFields, Trace } from './trace-context.ts'

/** The arguments and results of socket handlers. Generated session types narrow these types channel by channel. */

/** A request to open a socket, before it is answered. */
export type UpgradeRequest = {
  channelId: string
  scope: string
  role: string
  requestId: string
  /** The Authorization header; '' if absent. */
  authorization: string
  /** The offered subprotocol's text after the channel's credential prefix; '' if no subprotocol has the prefix. */
  credential: string
  /** '' if the client is not a browser. */
  origin: string
  /** The Host header as it was sent; '' if absent. */
  host: string
  /** The URL path's parameters by name. */
  path: Readonly<Record<string, string>>
  query: URLSearchParams
  /** The mount's `admit` adds the client to the log fields. */
  logFields: LogFields
  /**
   * The mount's `admit` calls this function as soon as the organization is known. The request and its socket then count
   * against this organization's share of the server's limits. Otherwise all sockets without a key count against one
   * common share. Throws Refusal if the organization has too many requests.
   */
  belongsTo: (organizationId: string) => void
  /** Makes the socket a part of this trace, so it has no separate trace. Null changes nothing. */
  joinTrace(trace: Trace | null): void
}

/**
 * Decides whether a socket opens. Returns the authenticated client. To refuse, it throws an error for the API's fault
 * writer. If another process has to serve the socket, it throws OwnedElsewhere.
 */
export type AdmitSocket = (request: UpgradeRequest) => unknown

/** Thrown by `AdmitSocket`: another process has to serve this socket. */
export class OwnedElsewhere extends Error {
  /** The serving process's name. */
  readonly owner: string

  constructor(owner: string) {
    super('another process holds this')
    this.owner = owner
  }
}

export type SocketContext<Caller = unknown> = {
  requestId: string
  caller: Caller
  channelId: string
  /** The URL path's parameters by name. */
  path: Readonly<Record<string, string>>
  query: URLSearchParams
  /** Aborted when the socket has ended, by either side. */
  readonly signal: CancelSignal
  /** The monotonic time when the upgrade request arrived. */
  startedMs: number
  /** The socket's span context. Null: the socket is not traced. */
  readonly trace: Trace | null
  /** Fields to add to this socket's log line. */
  readonly logFields: LogFields
}

/** One open socket. After its end every method does nothing. */
export interface Socket {
  /**
   * Sends one text frame with JSON text. Returns false if the client reads too slowly. The session's `onDrained`
   * reports when the client has read all.
   */
  send(text: string): boolean
  /** Sends one binary frame. The bytes are copied before it returns. */
  sendBytes(bytes: Uint8Array): boolean
  /** The bytes written but not yet taken by the client. */
  readonly bufferedBytes: number
  /** Closes after all sent frames. `reason` has at most 123 bytes. */
  close(code: number, reason: string): void
}

/** The reason for refusing a client's frame, in words for the client. Never contains the frame's content. */
export type FrameProblem = {
  kind: 'binary' | 'not_json' | 'unknown_type' | 'invalid'
  /** The frame's `type`, if it could be read. */
  type: string | null
  message: string
  /** The invalid field's JSON pointer and the violated schema keyword. Absent if no single field is invalid. */
  field?: { pointer: string; keyword: string }
}

/** Every session has these methods, and one further method for each frame type that its channel receives. */
export type SocketSession = {
  /** Called if a frame breaks the contract. The session decides the consequence. */
  onRefused(problem: FrameProblem): void
  /**
   * Called for a binary frame, only on channels that accept binary frames. `bytes` must not be used after it returns.
   */
  onBytes(bytes: Uint8Array): void
  onDrained(): void
  /** Called before the server ends the socket because its client reads too slowly or too much is buffered. */
  onSlowReader(): void
  /**
   * Called if the server stops and the drain's grace is over: the session must send its last frames and close now. The
   * start of a drain calls nothing, so a session is not notified if it ends by itself within the grace.
   */
  onShutdown(): void
  /** Called when the socket has ended. This is the last call. */
  onGone(): void
}

export type SocketHandler = (socket: Socket, context: SocketContext) => SocketSession
/** The handlers by channel id. */
export type SocketHandlers = Readonly<Record<string, SocketHandler>>
