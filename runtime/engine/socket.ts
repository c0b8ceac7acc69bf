import type { CancelSignal } from './cancel-signal.ts'
import type { LogFields, Trace } from './trace-context.ts'

/** The arguments and results of socket handlers. Generated session types narrow these types channel by channel. */

/** A request to open a socket, before it is answered. */
export type UpgradeRequest = {
  channelId: string
  scope: string
  requestId: string
  /** '' where the header is absent. */
  authorization: string
  /** The rest of the offered subprotocol that begins with the channel's credential prefix; '' when there was none. */
  credential: string
  /** '' for clients other than browsers. */
  origin: string
  /** As it was sent; '' for none. */
  host: string
  /** The address's parameters by name. */
  path: Readonly<Record<string, string>>
  query: URLSearchParams
  /** The admission sets the fields that name the caller in the log. */
  logFields: LogFields
  /** The socket becomes a part of this work, and has no separate trace. Null changes nothing. */
  joinTrace(trace: Trace | null): void
}

/**
 * Decides whether a socket opens. Returns the caller; throws an error that the surface's fault writer turns into the
 * refusal, or HeldElsewhere.
 */
export type AdmitSocket = (request: UpgradeRequest) => unknown

/** Thrown by `AdmitSocket`: another process has to serve this socket. */
export class HeldElsewhere extends Error {
  /** The name of that process. */
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
  /** The address's parameters by name. */
  path: Readonly<Record<string, string>>
  query: URLSearchParams
  /** Aborted when the socket has ended, whichever side ended it. */
  readonly signal: CancelSignal
  /** Clock.monotonicMs() when the upgrade request came. */
  startedMs: number
  /** Where the socket is in a trace. Null: nobody traces it. */
  readonly trace: Trace | null
  /** Further fields of the line that the log has for this socket. */
  readonly logFields: LogFields
}

/** One open socket. After it has ended every method does nothing. */
export interface Socket {
  /**
   * Sends one text frame of JSON text. False: more is buffered than the reader takes; `onDrained` says when it has
   * caught up.
   */
  send(text: string): boolean
  /** Sends one binary frame. The bytes are copied before it returns. */
  sendBytes(bytes: Uint8Array): boolean
  /** Bytes that were written and not taken by the reader yet. */
  readonly bufferedBytes: number
  /** Frames that were sent before still arrive. `reason` is at most 123 bytes. */
  close(code: number, reason: string): void
}

/** The reason why a frame of the client was refused, in words for the client. Never the content of the frame. */
export type FrameProblem = {
  kind: 'binary' | 'not_json' | 'unknown_type' | 'invalid'
  /** The frame's `type` where it could be read. */
  type: string | null
  message: string
  /** The JSON pointer of the field that is wrong, and the keyword of the schema that it breaks; absent where no field is. */
  field?: { pointer: string; keyword: string }
}

/** Every session has these methods besides one for each frame that its channel receives. */
export type SocketSession = {
  /** A frame breaks the contract. The session decides what follows. */
  onRefused(problem: FrameProblem): void
  /** `bytes` are lent until it returns. Only on channels that accept binary frames. */
  onBytes(bytes: Uint8Array): void
  onDrained(): void
  /** The socket is about to be given up, because its reader is too slow or too much is buffered. */
  onSlowReader(): void
  /**
   * The server stops, and the grace of its drain is over: the session must send its last frames and close now. A drain
   * alone calls nothing, so a session that ends by itself within the grace is not notified.
   */
  onShutdown(): void
  /** The socket has ended. This is the last call. */
  onGone(): void
}

export type SocketHandler = (socket: Socket, context: SocketContext) => SocketSession
/** By channel id. */
export type SocketHandlers = Readonly<Record<string, SocketHandler>>
