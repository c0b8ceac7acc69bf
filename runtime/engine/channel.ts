/** The shape of the generated channel tables: what the engine must know of a channel, and nothing of what its frames mean. */
import type { Validate } from './operation.ts'

/** A text frame that clients send. `on` is the method of the session that takes it. */
export type FrameRule = { on: string; validate: Validate }

export type Channel = {
  /** transcribeStream: handler, metrics and log all say it. */
  id: string
  /** /v1/transcribe/stream; with parameters as whole segments: /v1/calls/{id}/audio. */
  address: string
  /** Names of the address's parameters, in the order of the address. */
  parameters?: readonly string[]
  /** The scope that the key must carry. */
  scope: string
  /** What the upgrade is answered with, whatever else the client offers beside it; in the spelling of the spec. */
  subprotocol: string
  /** Whether an upgrade that does not offer it is refused. */
  requiresSubprotocol: boolean
  /** Prefix of the offered subprotocol that carries a credential where headers cannot: `service.ephemeral.`. */
  credentialPrefix: string
  /** The values of query parameters that take no others; such a parameter may be absent. */
  query?: Readonly<Record<string, readonly string[]>>
  /** Client → server, by the frame's `type`. */
  receives: Readonly<Record<string, FrameRule>>
  acceptsBinary: boolean
  /** Server → client, by `type`; tests and development hold what is sent to them. */
  sends: Readonly<Record<string, Validate>>
}

export type SocketSurface = { name: string; channels: readonly Channel[] }
