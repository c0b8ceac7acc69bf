import type { KeyUse } from './idempotency.ts'

/** `body` is the sent text. */
export type StoredAnswer = { status: number; body: string }

/** Stored answers. While its key lives, a repeated request gets the same answer again. */
export interface StoredAnswers {
  /** Ends the request with its answer. Its key must be dispatched and must still belong to the request. */
  keep(use: KeyUse, answer: StoredAnswer): Promise<void>
  /** The first request's answer under this key. Null if there is no answer yet. */
  find(use: KeyUse): Promise<StoredAnswer | null>
}
