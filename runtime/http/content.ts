import type { Validate } from '../engine/operation.ts'

/** A body as the receiver fills it: one value or bytes (raw-content.ts), or parts (multipart.ts). */
export interface Content {
  /** Hex SHA-256. Valid once `finish` has settled. */
  readonly hash: string
  /** Takes the chunk over. Throws Refusal. `last` only saves work. */
  take(chunk: Buffer, last: boolean): void
  /** Rejects with Refusal when the body is not whole. */
  finish(): Promise<void> | undefined
  /** The handler's input, once finished. `validate` is for the JSON in it. Throws Refusal. */
  read(validate: Validate | null): unknown
  /** The bytes as they were sent. Null where parts were decoded from them. */
  rawBody(): Uint8Array | null
  /** Nothing more will come. Never throws. */
  destroy(): void
}
