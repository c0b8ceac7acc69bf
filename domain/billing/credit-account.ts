/** An organization's view of its credit: the balance and all movements. */

export const movementKinds = ['opening', 'operator', 'phone_number', 'requests', 'calls'] as const

/**
 * `opening`: the credit before the first stored movement. `operator`: given or removed by the operator. `phone_number`:
 * a purchase, a monthly charge, or a refund for a failed order. `requests` and `calls`: the sum for one UTC day. The
 * sum grows until the day is over.
 */
export type MovementKind = (typeof movementKinds)[number]

export type CreditMovement = {
  id: string
  kind: MovementKind
  /** The amount in micro-USD, negative if the credit became smaller. */
  microUsd: number
  phoneNumberId: string | null
  /** The UTC day, such as `2026-11-21`, if the movement is a day's sum. Null otherwise. */
  day: string | null
  createdAtMs: number
  updatedAtMs: number
}

/** A movement's position in the list, for reading the next page. */
export type MovementPosition = { createdAtMs: number; id: string }

export type CreditAccount = {
  creditMicroUsd: number
  /** Credit reserved for open requests. */
  reservedMicroUsd: number
  /** One page of movements, newest first. */
  movements: readonly CreditMovement[]
  /** The position for reading the next page. Null on the last page. */
  next: MovementPosition | null
}

export type CreditBalance = {
  creditMicroUsd: number
  /** The time when a movement last changed. Without a movement, the time when the organization was created. */
  changedAtMs: number
}

export interface CreditAccounts {
  /** Reads the balance. Resolves with null if the organization does not exist. */
  balance(organizationId: string): Promise<CreditBalance | null>
  /** Reads one page of movements. Resolves with null if the organization does not exist. */
  read(organizationId: string, limit: number, after: MovementPosition | null): Promise<CreditAccount | null>
}
