/** The credit of an organization as it sees it: how much there is, and all that has changed it. */

export const movementKinds = ['opening', 'operator', 'phone_number', 'requests', 'calls'] as const

/**
 * `opening`: the credit at the time when movements were first kept. `operator`: given or taken by the operator. `phone_number`: a purchase, a
 * month, or money back for an order that failed. `requests` and `calls`: the sum of one UTC day, which grows until the day is over.
 */
export type MovementKind = (typeof movementKinds)[number]

export type CreditMovement = {
  id: string
  kind: MovementKind
  /** Negative: it was taken. */
  microUsd: number
  phoneNumberId: string | null
  /** `2026-11-21`, for the sum of a day. */
  day: string | null
  createdAtMs: number
  updatedAtMs: number
}

/** The place of a movement in the list. */
export type MovementPosition = { createdAtMs: number; id: string }

export type CreditAccount = {
  creditMicroUsd: number
  /** Set aside for requests that are under way. */
  reservedMicroUsd: number
  /** A page of them, newest first. */
  movements: readonly CreditMovement[]
  /** Null: this is the last page. */
  next: MovementPosition | null
}

export type CreditBalance = {
  creditMicroUsd: number
  /** The time of the newest change of a movement; without one that at which the organization was made. */
  changedAtMs: number
}

export interface CreditAccounts {
  /** Null: there is no such organization. */
  balance(organizationId: string): Promise<CreditBalance | null>
  /** Null: there is no such organization. */
  read(organizationId: string, limit: number, after: MovementPosition | null): Promise<CreditAccount | null>
}
