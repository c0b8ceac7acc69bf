/** Sends requests to addresses from organizations. `providers/wire` implements it. */
import type { CancelSignal } from '../ports/system.ts'

export type WebhookRequest = {
  url: string
  headers: Readonly<Record<string, string>>
  body: string | Uint8Array
  signal: CancelSignal
  /** The client stops reading an answer at this size. */
  answerBytesMax: number
  /** Each lane keeps its connections, so a slow lane does not delay others at the same server. */
  lane?: string
}

/** Any status. Redirects are not followed. */
export type WebhookAnswer = {
  status: number
  body: Uint8Array
  isCut: boolean
  /** The server's Retry-After, if it sent one. */
  retryAfterS?: number
}

/**
 * After `dns` (the name was not found), `tls` (bad certificate or handshake) and `not_connected`, no byte of the
 * request was sent. `busy`: too many requests to this address are open. `timed_out`: the server was silent for longer
 * than the client allows any request.
 */
export type WebhookFailure =
  | 'dns'
  | 'tls'
  | 'not_connected'
  | 'broken_off'
  | 'blocked'
  | 'busy'
  | 'cancelled'
  | 'timed_out'
  | 'not_sendable'

export class WebhookError extends Error {
  readonly failure: WebhookFailure

  constructor(failure: WebhookFailure, cause: unknown) {
    super(failure, { cause })
    this.name = 'WebhookError'
    this.failure = failure
  }
}

export interface WebhookClient {
  /** Rejects with WebhookError, as `get` does. */
  post(request: WebhookRequest): Promise<WebhookAnswer>
  get(request: Omit<WebhookRequest, 'body'>): Promise<WebhookAnswer>
  close(): Promise<void>
}
