/** Connects legs' audio: a line brings a leg's audio to its address, and a conversation waits behind the address. */
import type { MediaSink, MediaTransport } from './media.ts'
import type { LineName, MediaEndpoint } from './phone-line.ts'

export interface LegMedia {
  /**
   * Makes an address for one opening, at this process only: if a socket reaches another process, it is passed on to
   * this one. The leg's earlier address becomes invalid.
   */
  expect(leg: ExpectedLeg): MediaEndpoint
  /** Invalidates the address. A running stream goes on. Must be called when the leg is over. */
  forget(legId: string): void
}

export type ExpectedLeg = {
  legId: string
  line: LineName
  /** The transport's rate, equal to the conversation's. The line may use another rate. */
  sampleRateHz: 8000 | 16_000 | 24_000 | 48_000
  /**
   * Called once, when the leg's stream has begun. The returned sink receives its audio, and `gone` when the stream is
   * over. `carrierLegId` is the line's leg id, if the stream names it.
   */
  joined(transport: MediaTransport, carrierLegId?: string): MediaSink
  /** Called instead of `joined` if a socket opened but brought no usable stream. The address is spent. */
  failed(reason: StreamFailure): void
}

/** `late`: no stream began in time. `encoding`: its audio encoding is unknown. `closed`: the socket closed before. */
export type StreamFailure = 'late' | 'encoding' | 'closed'
