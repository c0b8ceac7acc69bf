/** Sends requests to URLs set by organizations. `providers/wire` implements it. */
import type { CancelSignal } from '../ports/system.ts'

export type WebhookRequest = {
  url: string
  headers: Readonly<Record<string, string>>
  body: string | Uint8Array
  signal: CancelSignal
  /** If the endpoint's answer exceeds this size, the rest of the answer is not read. */
  answerBytesMax: number
  /**
   * Each lane has separate connections, so slow requests in one lane do not delay other requests to the same server.
   */
  lane?: string
  /**
   * The organization. Long answers are read in turns, one organization after another. Without an organization, all
   * requests in the same lane count as one organization.
   */
  owner?: string
}

/** An HTTP response with any status, even an error status. Redirects are not followed. */
export type WebhookAnswer = {
  status: number
  body: Uint8Array
  isCut: boolean
  /** Present if the server sent Retry-After. */
  retryAfterS?: number
}

/**
 * After `dns` (the name was not found), `tls` (a bad certificate or handshake) and `not_connected`, no byte of the
 * request was sent. `busy`: too many requests to this server (scheme, host and port) are open. `timed_out`: the server
 * was silent for longer than the client allows.
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
