/**
 * One use of an idempotency key. A key belongs to an organization and an operation. Only its SHA-256 digest is stored.
 */
export type KeyUse = {
  organizationId: string
  operation: string
  /** The SHA-256 digest of the Idempotency-Key header, in hex. */
  keyDigest: string
  /** The SHA-256 digest of the request's content, in hex. The contract defines the content. */
  contentHash: string
  requestId: string
}

export type KeyAdmission =
  | { outcome: 'admitted' }
  | { outcome: 'in_progress'; retryAfterS: number }
  | { outcome: 'already_started'; originalRequestId: string }
  | { outcome: 'conflict'; originalRequestId: string }

/**
 * The states during a key's use: admitted → dispatched → succeeded or failed. A request that ends before dispatch
 * releases its key. `dispatched` is stored before the first byte goes to a provider. If the process dies after
 * admission, another request can take over the key when its lease has run out.
 */
export interface Idempotency {
  /**
   * Begins to use the key. With `dispatched`, admission and dispatch are stored in one step. This is allowed only if
   * the request is dispatched without a wait, because from now on a repeated request is answered `already_started`.
   */
  admit(use: KeyUse, as?: 'admitted' | 'dispatched'): Promise<KeyAdmission>
  /**
   * Moves the use to `dispatched`. Resolves with false if another request took over the key after the lease ran out.
   * This request must then stop.
   */
  dispatch(use: KeyUse): Promise<boolean>
  /** Releases the key. Allowed before dispatch, or if every attempt failed before a byte was sent. */
  release(use: KeyUse): Promise<void>
}
