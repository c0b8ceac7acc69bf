/**
 * The shape of the generated channel tables: facts about a channel for the WebSocket engine. The tables do not say what
 * a channel's frames mean.
 */
import type { Validate } from './operation.ts'

/** A text frame from a client. `on` names the session's method for this frame. */
export type FrameRule = { on: string; validate: Validate }

export type Channel = {
  /** Names the channel in handlers, metrics and log: transcribeStream. */
  id: string
  /**
   * The channel's URL path, which AsyncAPI calls the address: /v1/transcribe/stream. A parameter is a whole segment:
   * /v1/calls/{id}/audio.
   */
  address: string
  /** The path's parameter names, in the path's order. */
  parameters?: readonly string[]
  /** The scope that the API key needs. */
  scope: string
  /** The lowest role of a user that may open the socket. */
  role: string
  /** The response to the upgrade selects this subprotocol, in the spec's spelling, if the client offers it. */
  subprotocol: string
  /** If true, an upgrade is refused unless it offers the subprotocol. */
  requiresSubprotocol: boolean
  /**
   * A client that cannot set headers, such as a web page, offers its credential as a subprotocol with this prefix:
   * `service.ephemeral.`.
   */
  credentialPrefix: string
  /** For query parameters with a closed set of values: the allowed values. Each such parameter may be absent. */
  query?: Readonly<Record<string, readonly string[]>>
  /** The frames from client to server, by frame type. */
  receives: Readonly<Record<string, FrameRule>>
  acceptsBinary: boolean
  /** The name of the field with a text frame's type. Absent if the name is `type`. */
  frameType?: string
  /**
   * The frames from server to client, by frame type. Set only in tests and development, where an invalid frame ends the
   * socket.
   */
  sends?: Readonly<Record<string, Validate>>
}

export type SocketSurface = { name: string; channels: readonly Channel[] }
