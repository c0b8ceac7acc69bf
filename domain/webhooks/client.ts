/** Sends requests to addresses that organizations gave us. `providers/wire` implements it. */
import type { CancelSignal } from '../ports/system.ts'

export type WebhookRequest = {
  url: string
  headers: Readonly<Record<string, string>>
  body: string | Uint8Array
  signal: CancelSignal
  /** More of an answer is not read. */
  answerBytesMax: number
  /** Connections are kept for requests of one lane, so that others at the same server do not wait for it. */
  lane?: string
}

/** Any status. A redirect is not followed. */
export type WebhookAnswer = {
  status: number
  body: Uint8Array
  isCut: boolean
  /** The wait that the server asks for. */
  retryAfterS?: number
}

/**
 * No byte of the request was sent after `dns` (the name was not found), `tls` (the certificate or the handshake was bad)
 * and `not_connected`. `busy`: too many requests to this address are open. `timed_out`: the server was silent for longer
 * than any request may take.
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
