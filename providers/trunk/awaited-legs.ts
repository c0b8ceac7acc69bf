/**
 * Finds a leg's conversation when the leg's audio begins. The SIP code calls `open` directly, because the conversation
 * runs in the same process.
 */
import type { StreamFailure } from '../../domain/ports/leg-media.ts'
import type { MediaSink, MediaTransport } from '../../domain/ports/media.ts'
import type { MediaEndpoint } from '../../domain/ports/phone-line.ts'

export type OpenedLeg = {
  sampleRateHz: number
  joined(transport: MediaTransport): MediaSink
  failed(reason: StreamFailure): void
}

export interface AwaitedLegs {
  /**
   * Opens the leg's audio, once, with the URL and token made for it (MediaEndpoint). Returns null if they are not valid
   * in this process.
   */
  open(legId: string, media: MediaEndpoint): OpenedLeg | null
}
