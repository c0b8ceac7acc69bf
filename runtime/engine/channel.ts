/**
 * The shape of the generated channel tables: facts about a channel for the engine. The tables do not say what a
 * channel's frames mean.
 */
import type { Validate } from './operation.ts'

/** A text frame from a client. `on` names the session's method for it. */
export type FrameRule = { on: string; validate: Validate }

export type Channel = {
  /** Names the channel in handlers, metrics and log: transcribeStream. */
  id: string
  /** For example /v1/transcribe/stream. A parameter is a whole segment: /v1/calls/{id}/audio. */
  address: string
  /** The address's parameter names, in the address's order. */
  parameters?: readonly string[]
  /** The scope that the API key needs. */
  scope: string
  /** The lowest role of a user that may open the socket. */
  role: string
  /** The answer to the upgrade selects this subprotocol, in the spec's spelling, if the client offers it. */
  subprotocol: string
  /** If true, an upgrade is refused unless it offers the subprotocol. */
  requiresSubprotocol: boolean
  /**
   * A client without access to headers offers its credential as a subprotocol with this prefix: `service.ephemeral.`.
   */
  credentialPrefix: string
  /** For query parameters with a closed set of values: the allowed values. Each such parameter may be absent. */
  query?: Readonly<Record<string, readonly string[]>>
  /** The frames from client to server, by frame type. */
  receives: Readonly<Record<string, FrameRule>>
  acceptsBinary: boolean
  /** The text frame's field for the frame type, if not `type`. */
  frameType?: string
  /**
   * The frames from server to client, by frame type. Only tests and development add it: a wrong frame then ends the
   * socket.
   */
  sends?: Readonly<Record<string, Validate>>
}

export type SocketSurface = { name: string; channels: readonly Channel[] }
