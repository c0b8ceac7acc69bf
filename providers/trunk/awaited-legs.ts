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
  /** Opens the media address. It can be opened only once. Returns null if the address is not valid in this process. */
  open(legId: string, media: MediaEndpoint): OpenedLeg | null
}
