import type { Validate } from '../engine/operation.ts'

/** A body, filled by the receiver: one value or bytes (raw-content.ts), or parts (multipart.ts). */
export interface Content {
  /** The content's SHA-256 in hex. Valid once `finish` has settled. */
  readonly hash: string
  /**
   * Receives a chunk, which now belongs to the content. Throws Refusal. `last` is true for the body's last chunk, and
   * only makes hashing faster.
   */
  take(chunk: Buffer, last: boolean): void
  /** Must be called after the last chunk. Rejects with Refusal if the body is not whole. */
  finish(): Promise<void> | undefined
  /**
   * Returns the handler's input, after `finish`, or a promise for it if the content is large. `validate` checks the
   * JSON in it. If several owners have large contents, they are read in turns. Throws Refusal.
   */
  read(validate: Validate | null, owner: string): unknown
  /** Returns the bytes as they were sent. Null if parts were decoded from them. */
  rawBody(): Uint8Array | null
  /** Releases the content. Never throws. */
  destroy(): void
}
