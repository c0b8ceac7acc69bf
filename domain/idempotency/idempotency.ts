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

export type KeyAdmission =
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
   * `dispatched` takes both steps in one commit, for a request that waits for nothing between them. A copy of the request is then answered
   * already_started, which is true.
   */
  admit(use: KeyUse, as?: 'admitted' | 'dispatched'): Promise<KeyAdmission>
  /** False when another request took the key over after its lease: this one must not go on. */
  dispatch(use: KeyUse): Promise<boolean>
  /** Before dispatch, or when every attempt was refused before a byte was written. */
  release(use: KeyUse): Promise<void>
}
