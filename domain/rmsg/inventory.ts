/** The operator's view of rich-message numbers: adds them, and puts them into the pools of organizations. */
import type { RmsgNumber } from './numbers.ts'
import type { SmsStatus } from './sms-status.ts'

/** A number by its id or its E.164 form, in one of the worlds. */
export type NamedNumber = { test: boolean; name: string }

export type NewRmsgNumber = Pick<RmsgNumber, 'test' | 'e164' | 'providerIdentity'>

/** The answers of the provider and of the registry of text messages. Null: they do not answer. */
export type Seen = { isThere: boolean | null; smsStatus: SmsStatus | null }

/** `unknown`: there is no such number. */
type Changed<Refusal extends string = never> = Promise<RmsgNumber | 'unknown' | Refusal>

export interface RmsgInventory {
  /** Oldest first. */
  list(test: boolean, limit: number): Promise<RmsgNumber[]>
  /** `exists`: the number or its identity is in the inventory. */
  add(number: NewRmsgNumber): Promise<RmsgNumber | 'exists'>
  /**
   * Puts the number into the pool of an organization, which from then on sees no numbers by the rule of before pools.
   * `assigned`: it is in the pool of another one.
   */
  assign(number: NamedNumber, organizationId: string): Changed<'no_organization' | 'assigned'>
  /** The agent that answers on it has no number from then on. */
  unassign(number: NamedNumber): Changed
  pause(number: NamedNumber): Changed<'unavailable'>
  resume(number: NamedNumber): Changed<'unavailable'>
  /** Stores what was seen. A number that is there again is as it was before the provider lost it: active or paused. */
  observe(number: NamedNumber, seen: Seen): Changed
  /** `assigned`: it is in a pool. */
  remove(number: NamedNumber): Changed<'assigned'>
}
