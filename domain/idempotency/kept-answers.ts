import type { KeyUse } from './idempotency.ts'

/** `body` is the text as it was sent. */
export type KeptAnswer = { status: number; body: string }

/** The answers of requests that are answered again in the same way, for as long as their keys live. */
export interface KeptAnswers {
  /** Ends the request: its key has been dispatched, and belongs to it. */
  keep(use: KeyUse, answer: KeptAnswer): Promise<void>
  /** The answer of the request that had this key first. Null: it has none yet. */
  find(use: KeyUse): Promise<KeptAnswer | null>
}
