/** Reads the events that a carrier sends to us. */
import type { LegEvent } from './phone-line.ts'

export interface CarrierWebhooks {
  /**
   * `forged`: the carrier has not signed these bytes, or not now. `other`: an event that says nothing of a leg. The
   * names of the headers are in lower case.
   */
  read(headers: Readonly<Record<string, unknown>>, body: Uint8Array): LegEvent | 'forged' | 'other'
}
