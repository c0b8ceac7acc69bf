import type { KeyUse } from './idempotency.ts'

/** An answer as it was sent. `body` is its text. */
export type StoredAnswer = { status: number; body: string }

/** Stores answers. While a key is valid, a repeated request gets the same answer again. */
export interface StoredAnswers {
  /** Stores the answer and ends the use. The key must be dispatched and must still belong to this request. */
  keep(use: KeyUse, answer: StoredAnswer): Promise<void>
  /** Finds the first request's answer under this key. Resolves with null if there is no answer yet. */
  find(use: KeyUse): Promise<StoredAnswer | null>
}
