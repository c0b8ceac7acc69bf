/**
 * Connects legs' audio with conversations: the carrier opens a stream to the leg's URL, and the conversation receives
 * this stream.
 */
import type { MediaSink, MediaTransport } from './media.ts'
import type { LineName, MediaEndpoint } from './phone-line.ts'

export interface LegMedia {
  /**
   * Makes a URL that can be opened once. Only this process serves the stream: if the socket reaches another process,
   * the other process relays the socket to this process. The leg's earlier URL becomes invalid.
   */
  expect(leg: ExpectedLeg): MediaEndpoint
  /** Makes the URL invalid. A running stream goes on. Must be called when the leg is over. */
  forget(legId: string): void
}

export type ExpectedLeg = {
  legId: string
  organizationId: string
  line: LineName
  /** The transport's sample rate, equal to the conversation's. The carrier may use another rate. */
  sampleRateHz: 8000 | 16_000 | 24_000 | 48_000
  /**
   * Called once, when the leg's stream has begun. The returned sink receives the leg's audio, and its `gone` is called
   * when the stream is over. `carrierLegId` is the carrier's leg id if the stream contains it.
   */
  joined(transport: MediaTransport, carrierLegId?: string): MediaSink
  /** Called instead of `joined` if a socket opened without a usable stream. The URL cannot be opened again. */
  failed(reason: StreamFailure): void
}

/**
 * `late`: the socket opened, but no stream began in time. `encoding`: the stream's audio encoding is unknown. `closed`:
 * the socket closed before the stream began.
 */
export type StreamFailure = 'late' | 'encoding' | 'closed'
