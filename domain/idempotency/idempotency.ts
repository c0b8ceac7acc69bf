/** One use of a key: scope is the organization and the operation, the key itself is stored as a SHA-256 digest only. */
export type KeyUse = {
  organizationId: string
  operation: string
  /** Hex SHA-256 of the Idempotency-Key. */
  keyDigest: string
  /** Hex SHA-256 of the content, as the contract defines it. */
  contentHash: string
  requestId: string
}

export type Admission =
  | { outcome: 'admitted' }
  | { outcome: 'in_progress'; retryAfterS: number }
  | { outcome: 'already_started'; originalRequestId: string }
  | { outcome: 'conflict'; originalRequestId: string }

/**
 * admitted → dispatched → succeeded | failed. A request that ends before dispatch releases its key; `dispatched` is committed before the
 * first byte goes to a provider. An admitted key whose process died is taken over after its lease.
 */
export interface Idempotency {
  /**
   * `dispatched` takes both steps in one, for a request that waits for nothing between them: one commit instead of two. A copy of it is told
   * already_started, which it is.
   */
  admit(use: KeyUse, as?: 'admitted' | 'dispatched'): Promise<Admission>
  /** False when the lease was lost to a taker-over: the request must not go on. */
  dispatch(use: KeyUse): Promise<boolean>
  /** Before dispatch, or when every attempt was refused before a byte was written. */
  release(use: KeyUse): Promise<void>
}
