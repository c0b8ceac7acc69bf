/** The audio of legs: each leg has an address to which its line brings the audio, and a conversation that waits behind it. */
import type { MediaSink, MediaTransport } from './media.ts'
import type { LineName, MediaEndpoint } from './phone-line.ts'

export interface LegMedia {
  /**
   * Makes an address that opens once, and only at this process: a socket that reaches another one is passed on to it.
   * An address that was made for the leg before opens nothing any more.
   */
  expect(leg: ExpectedLeg): MediaEndpoint
  /** The address opens nothing any more. A stream that has begun goes on. Must be called when the leg is over. */
  forget(legId: string): void
}

export type ExpectedLeg = {
  legId: string
  line: LineName
  /** The rate of the transport, which is that of the conversation. The line may use another one. */
  sampleRateHz: 8000 | 16_000 | 24_000 | 48_000
  /**
   * Called once, when the stream of the leg has begun. The answer receives its audio, and `gone` when the stream is over.
   * `carrierLegId`: the name that the line has for the leg, if its stream says it.
   */
  joined(transport: MediaTransport, carrierLegId?: string): MediaSink
  /** Called instead of `joined` for a socket that opened and brought no stream that can be used. The address is spent. */
  failed(reason: StreamFailure): void
}

/** `late`: no stream began in time. `encoding`: its audio is in none that we know. `closed`: the socket closed before. */
export type StreamFailure = 'late' | 'encoding' | 'closed'
