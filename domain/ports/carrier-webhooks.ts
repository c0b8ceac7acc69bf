/** Reads a carrier's webhook events. */
import type { LegEvent } from './phone-line.ts'

export interface CarrierWebhooks {
  /**
   * `forged`: the carrier has not signed these bytes, or not recently. `other`: the event is not about a leg. Header
   * names are in lower case.
   */
  read(headers: Readonly<Record<string, unknown>>, body: Uint8Array): LegEvent | 'forged' | 'other'
}
