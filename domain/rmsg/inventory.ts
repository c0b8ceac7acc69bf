/** The operator's view of rich-message numbers: adds them, and puts them into the pools of organizations. */
import type { RmsgNumber } from './numbers.ts'

/** A number by its id or its E.164 form, in one of the worlds. */
export type NamedNumber = { test: boolean; name: string }

/** `unknown`: there is no such number. */
type Changed<Refusal extends string = never> = Promise<RmsgNumber | 'unknown' | Refusal>

export interface RmsgInventory {
  /** Oldest first. */
  list(test: boolean, limit: number): Promise<RmsgNumber[]>
  /** `exists`: the number or its identity is in the inventory. */
  add(number: Pick<RmsgNumber, 'test' | 'e164' | 'providerIdentity'>): Promise<RmsgNumber | 'exists'>
  /**
   * Puts the number into the pool of an organization, which from then on sees no numbers by the rule of before pools.
   * `assigned`: it is in the pool of another one.
   */
  assign(number: NamedNumber, organizationId: string): Changed<'no_organization' | 'assigned'>
  /** The agent that answers on it has no number from then on. */
  unassign(number: NamedNumber): Changed
  pause(number: NamedNumber): Changed<'unavailable'>
  resume(number: NamedNumber): Changed<'unavailable'>
  /** The provider has lost the number, or has it again; then it is active. */
  mark(number: NamedNumber, isThere: boolean): Changed
  /** `assigned`: it is in a pool. */
  remove(number: NamedNumber): Changed<'assigned'>
}
