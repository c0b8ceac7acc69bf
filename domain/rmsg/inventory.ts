/** The operator's view of rich-message numbers: adds them, and puts them into organizations' pools. */
import type { RmsgNumber } from './numbers.ts'
import type { SmsStatus } from './sms-status.ts'

/** A number by its id or its E.164 form, in one world. */
export type NamedNumber = { test: boolean; name: string }

export type NewRmsgNumber = Pick<RmsgNumber, 'test' | 'e164' | 'providerIdentity'>

/** The provider's and the text-message registry's answers. Null if they do not answer. */
export type Seen = { isThere: boolean | null; smsStatus: SmsStatus | null }

/** `unknown`: the number does not exist. */
type Changed<Refusal extends string = never> = Promise<RmsgNumber | 'unknown' | Refusal>

export interface RmsgInventory {
  /** Oldest first. */
  list(test: boolean, limit: number): Promise<RmsgNumber[]>
  /** `exists`: the inventory already has the number or its identity. */
  add(number: NewRmsgNumber): Promise<RmsgNumber | 'exists'>
  /**
   * Puts the number into an organization's pool. From then on, the organization loses its `legacy` view. `assigned`:
   * the number is in another pool.
   */
  assign(number: NamedNumber, organizationId: string): Changed<'no_organization' | 'assigned'>
  /** The agent that answers on it loses the number. */
  unassign(number: NamedNumber): Changed
  pause(number: NamedNumber): Changed<'unavailable'>
  resume(number: NamedNumber): Changed<'unavailable'>
  /**
   * Stores the observation. If the provider has the number again, the number returns to its earlier state: active or
   * paused.
   */
  observe(number: NamedNumber, seen: Seen): Changed
  /** `assigned`: it is in a pool. */
  remove(number: NamedNumber): Changed<'assigned'>
}
