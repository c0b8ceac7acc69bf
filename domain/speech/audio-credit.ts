/**
 * Reserves credit for a transcription stream: one minute's audio at a time, and each minute before it is needed, so no
 * frame waits for a query. The first minute is reserved when the request is admitted.
 */
import type { Quantity } from '../billing/ledger.ts'
import type { DispatchedRequest } from '../dispatch/dispatch.ts'
import type { AudioLayout } from './audio-layout.ts'

export const creditSliceMs = 60_000
/** A slice is reserved this long before its audio is sent. */
const leadMs = 5000

type Payable = Pick<DispatchedRequest<unknown>, 'costs' | 'reserve'>

export class AudioCredit {
  readonly #layout: AudioLayout
  readonly #refused: (error: unknown) => void
  #dispatched: Payable | null = null
  #reservedMs = creditSliceMs
  /** The sample at which the next slice is reserved. Null if the stream costs nothing, and during a reservation. */
  #dueSamples: number | null = null

  /** `refused` is called if a slice cannot be reserved. */
  constructor(layout: AudioLayout, refused: (error: unknown) => void) {
    this.#layout = layout
    this.#refused = refused
  }

  /** Called when a provider is open, at the start and after a failover. */
  opened(dispatched: Payable): void {
    this.#dispatched = dispatched
    this.#dueSamples = dispatched.costs(audioQuantity(creditSliceMs)) ? this.#nextDueSamples() : null
  }

  /** Reserves the next slice if it is due. `samples` is the number of samples sent to the open provider. */
  sent(samples: number): void {
    if (this.#dueSamples !== null && samples >= this.#dueSamples) void this.#reserve(samples)
  }

  async #reserve(samples: number): Promise<void> {
    // Only one reservation runs at a time. It also covers audio that arrived after the reservation was due.
    this.#dueSamples = null
    const amountMs = Math.max(0, this.#layout.msOf(samples) - this.#reservedMs) + creditSliceMs
    try {
      await this.#dispatched?.reserve(audioQuantity(amountMs))
      this.#reservedMs += amountMs
      this.#dueSamples = this.#nextDueSamples()
    } catch (error) {
      this.#refused(error)
    }
  }

  #nextDueSamples(): number {
    return this.#layout.samplesIn(this.#reservedMs - leadMs)
  }
}

export function audioQuantity(ms: number): Quantity[] {
  return [{ unit: 'audio_milliseconds', amount: ms }]
}
