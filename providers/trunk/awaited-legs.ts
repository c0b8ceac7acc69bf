/** The legs whose conversation waits for audio, as trunks find them: in the same process, and without a socket. */
import type { StreamFailure } from '../../domain/ports/leg-media.ts'
import type { MediaSink, MediaTransport } from '../../domain/ports/media.ts'
import type { MediaEndpoint } from '../../domain/ports/phone-line.ts'

export type OpenedLeg = {
  sampleRateHz: number
  joined(transport: MediaTransport): MediaSink
  failed(reason: StreamFailure): void
}

export interface AwaitedLegs {
  /** Opens the address, which nothing else can open then. Null: it opens nothing here. */
  open(legId: string, media: MediaEndpoint): OpenedLeg | null
}
