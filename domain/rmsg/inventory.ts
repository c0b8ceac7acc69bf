/** Lets the operator add rich-message numbers and put them into organizations' pools. */
import type { RmsgNumber } from './numbers.ts'
import type { SmsStatus } from './sms-status.ts'

/** Names a live or test number by its id or its E.164 form. */
export type NamedNumber = { test: boolean; name: string }

export type NewRmsgNumber = Pick<RmsgNumber, 'test' | 'e164' | 'providerIdentity'>

/** The answers of the provider and the text-message registry. Null if no answer was received. */
export type Seen = { isThere: boolean | null; smsStatus: SmsStatus | null }

/** `unknown`: there is no such number. */
type Changed<Refusal extends string = never> = Promise<RmsgNumber | 'unknown' | Refusal>

export interface RmsgInventory {
  /** Lists the numbers, oldest first. */
  list(test: boolean, limit: number): Promise<RmsgNumber[]>
  /** Adds a number. `exists`: the inventory already has the number or its identity. */
  add(number: NewRmsgNumber): Promise<RmsgNumber | 'exists'>
  /**
   * Puts the number into an organization's pool. If the organization had the `legacy` view, it then sees only its pool.
   * `assigned`: the number is in another pool.
   */
  assign(number: NamedNumber, organizationId: string): Changed<'no_organization' | 'assigned'>
  /** Takes the number out of its pool. If an agent answers on the number, the agent loses the number. */
  unassign(number: NamedNumber): Changed
  pause(number: NamedNumber): Changed<'unavailable'>
  resume(number: NamedNumber): Changed<'unavailable'>
  /**
   * Stores the answers of the provider and the registry. If the provider has the number again, the number returns to
   * its earlier status: active or paused.
   */
  observe(number: NamedNumber, seen: Seen): Changed
  /** Removes the number. `assigned`: the number is in a pool and cannot be removed. */
  remove(number: NamedNumber): Changed<'assigned'>
}
