import type { KeyUse } from './idempotency.ts'

/** An HTTP response (the answer to a request) as it was sent. `body` is its text. */
export type StoredAnswer = { status: number; body: string }

/** Stores answers. While a key is valid, a repeated request gets the same answer again. */
export interface StoredAnswers {
  /**
   * Shows all processes that the request with this key runs, until the returned function is called. The key must be
   * dispatched.
   */
  begin(use: KeyUse): () => void
  /**
   * Stores the answer and ends the use. The key must be dispatched and must still belong to this request. Rejects if
   * the store is unreachable. The answer is then stored later if possible.
   */
  keep(use: KeyUse, answer: StoredAnswer): Promise<void>
  /**
   * Finds the first request's answer under this key. `running`: the request has no answer yet. `lost`: the request has
   * ended without an answer, because its process died or the store was unreachable.
   */
  find(use: KeyUse): Promise<StoredAnswer | 'running' | 'lost'>
}
