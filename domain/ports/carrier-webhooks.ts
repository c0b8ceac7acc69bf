/** Reads a carrier's webhook events. */
import type { LegEvent } from './phone-line.ts'

export interface CarrierWebhooks {
  /**
   * Reads one webhook request. Header names must be in lower case. `forged`: the carrier has not signed these bytes, or
   * its signature is too old. `other`: the event is not about a leg.
   */
  read(headers: Readonly<Record<string, unknown>>, body: Uint8Array): LegEvent | 'forged' | 'other'
}
