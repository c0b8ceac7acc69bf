import type { CancelSignal } from './cancel-signal.ts'

/** What the engine hands to a handler of sockets and takes back from it. Generated session types narrow these channel by channel. */

/** A request to open a socket, before it is answered. */
export type UpgradeRequest = {
  channelId: string
  scope: string
  requestId: string
  /** '' where the header is absent. */
  authorization: string
  /** What followed the channel's credential prefix among the offered subprotocols; '' when there was none. */
  credential: string
  /** '' for clients that are no browser. */
  origin: string
  /** As it was sent; '' for none. */
  host: string
  query: URLSearchParams
}

/** Decides whether a socket opens. Answers the caller; throws what the surface's fault writer turns into the refusal. */
export type AdmitSocket = (request: UpgradeRequest) => unknown

export type SocketContext<Caller = unknown> = {
  requestId: string
  caller: Caller
  channelId: string
  query: URLSearchParams
  /** Aborted when the socket has ended, whichever side ended it. */
  readonly signal: CancelSignal
  /** Clock.monotonicMs() when the upgrade was asked for. */
  startedMs: number
}

/** One open socket. After it has ended every method does nothing. */
export interface Socket {
  /** One text frame, JSON already written. False: more is buffered than the reader takes; `onDrained` says when it has caught up. */
  send(text: string): boolean
  /** One binary frame; the bytes are copied before it returns. */
  sendBytes(bytes: Uint8Array): boolean
  /** Written and not taken by the reader yet. */
  readonly bufferedBytes: number
  /** What was sent before still arrives. `reason` is at most 123 bytes. */
  close(code: number, reason: string): void
}

/** Why a frame of the client was refused. Words for the client, never its content. */
export type FrameProblem = {
  kind: 'binary' | 'not_json' | 'unknown_type' | 'invalid'
  /** The frame's `type` where it could be read. */
  type: string | null
  message: string
}

/** What every session has besides one method for each frame that its channel receives. */
export type SocketSession = {
  /** A frame that the contract does not know. The session decides what it means. */
  onRefused(problem: FrameProblem): void
  /** `bytes` are lent until it returns. Only on channels that accept binary frames. */
  onBytes(bytes: Uint8Array): void
  onDrained(): void
  /** The reader took nothing for so long, or so much is buffered, that the socket is about to be given up. */
  onSlowReader(): void
  /** The server stops: the session says goodbye within its grace. */
  onShutdown(): void
  /** The last call: the socket has ended. */
  onGone(): void
}

export type SocketHandler = (socket: Socket, context: SocketContext) => SocketSession
/** By channel id. */
export type SocketHandlers = Readonly<Record<string, SocketHandler>>
