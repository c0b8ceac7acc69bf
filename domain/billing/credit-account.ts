/** An organization's view of its credit: the balance and all movements. */

export const movementKinds = ['opening', 'operator', 'phone_number', 'requests', 'calls'] as const

/**
 * `opening`: the credit before the first stored movement. `operator`: given or taken by the operator. `phone_number`: a
 * purchase, a monthly charge, or a refund for a failed order. `requests` and `calls`: one UTC day's sum. It grows until
 * the day is over.
 */
export type MovementKind = (typeof movementKinds)[number]

export type CreditMovement = {
  id: string
  kind: MovementKind
  /** Negative if credit was taken. */
  microUsd: number
  phoneNumberId: string | null
  /** `2026-11-21`, only for a day's sum. */
  day: string | null
  createdAtMs: number
  updatedAtMs: number
}

/** A movement's place in the list. */
export type MovementPosition = { createdAtMs: number; id: string }

export type CreditAccount = {
  creditMicroUsd: number
  /** Set aside for open requests. */
  reservedMicroUsd: number
  /** One page, newest first. */
  movements: readonly CreditMovement[]
  /** Null on the last page. */
  next: MovementPosition | null
}

export type CreditBalance = {
  creditMicroUsd: number
  /** The newest change to any movement, or the organization's creation if there is no movement. */
  changedAtMs: number
}

export interface CreditAccounts {
  /** Null if the organization does not exist. */
  balance(organizationId: string): Promise<CreditBalance | null>
  /** Null if the organization does not exist. */
  read(organizationId: string, limit: number, after: MovementPosition | null): Promise<CreditAccount | null>
}
