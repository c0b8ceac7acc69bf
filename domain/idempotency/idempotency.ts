/** One use of a key. Its scope is the organization and the operation. The key is stored only as a SHA-256 digest. */
export type KeyUse = {
  organizationId: string
  operation: string
  /** The Idempotency-Key's SHA-256 in hex. */
  keyDigest: string
  /** The content's SHA-256 in hex. The contract defines the content. */
  contentHash: string
  requestId: string
}

export type KeyAdmission =
  | { outcome: 'admitted' }
  | { outcome: 'in_progress'; retryAfterS: number }
  | { outcome: 'already_started'; originalRequestId: string }
  | { outcome: 'conflict'; originalRequestId: string }

/**
 * admitted → dispatched → succeeded | failed. If a request ends before dispatch, it releases its key. `dispatched` is
 * committed before the first byte goes to a provider. If the process dies after admission, another request can take the
 * key over after its lease.
 */
export interface Idempotency {
  /**
   * `dispatched` takes both steps in one commit, if the request waits for nothing between them. A copy of the request
   * then gets the answer already_started, and this is true.
   */
  admit(use: KeyUse, as?: 'admitted' | 'dispatched'): Promise<KeyAdmission>
  /** False if another request took the key over after its lease. Then this request must not go on. */
  dispatch(use: KeyUse): Promise<boolean>
  /** Call this before dispatch, or if every attempt failed before a byte was sent. */
  release(use: KeyUse): Promise<void>
}
