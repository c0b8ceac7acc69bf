/** Sends requests to addresses that organizations gave us. `providers/wire` implements it. */
import type { CancelSignal } from '../ports/system.ts'

export type WebhookRequest = {
  url: string
  headers: Readonly<Record<string, string>>
  body: string
  signal: CancelSignal
  /** More of an answer is not read. */
  answerBytesMax: number
}

/** Any status. A redirect is not followed. */
export type WebhookAnswer = { status: number; body: Uint8Array; isCut: boolean }

/** `not_connected`: no byte of the request was sent. `busy`: too many requests to this address are open. */
export type WebhookFailure = 'not_connected' | 'broken_off' | 'blocked' | 'busy' | 'cancelled' | 'not_sendable'

export class WebhookError extends Error {
  readonly failure: WebhookFailure

  constructor(failure: WebhookFailure, cause: unknown) {
    super(failure, { cause })
    this.name = 'WebhookError'
    this.failure = failure
  }
}

export interface WebhookClient {
  /** Rejects with WebhookError. */
  post(request: WebhookRequest): Promise<WebhookAnswer>
  close(): Promise<void>
}
