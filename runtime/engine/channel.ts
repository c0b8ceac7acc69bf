/**
 * The shape of the generated channel tables: the facts that the engine needs of a channel. They do not say what its
 * frames mean.
 */
import type { Validate } from './operation.ts'

/** A text frame that clients send. `on` names the method of the session that takes it. */
export type FrameRule = { on: string; validate: Validate }

export type Channel = {
  /** transcribeStream: the handler, metrics and log use it. */
  id: string
  /** /v1/transcribe/stream; with parameters as whole segments: /v1/calls/{id}/audio. */
  address: string
  /** Names of the address's parameters, in the order of the address. */
  parameters?: readonly string[]
  /** The scope that the key must have. */
  scope: string
  /** The upgrade is answered with this one of the subprotocols that the client offers. In the spelling of the spec. */
  subprotocol: string
  /** Whether an upgrade that does not offer it is refused. */
  requiresSubprotocol: boolean
  /** Prefix of the offered subprotocol that carries a credential where headers cannot: `service.ephemeral.`. */
  credentialPrefix: string
  /** The values of query parameters that take no others; such a parameter may be absent. */
  query?: Readonly<Record<string, readonly string[]>>
  /** Client → server, by the type of the frame. */
  receives: Readonly<Record<string, FrameRule>>
  acceptsBinary: boolean
  /** The field of a text frame that holds its type, where that is not `type`. */
  frameType?: string
  /** Server → client, by the type of the frame. Only tests and development add it: a wrong frame ends the socket. */
  sends?: Readonly<Record<string, Validate>>
}

export type SocketSurface = { name: string; channels: readonly Channel[] }
