/** The errors of all surfaces. */

/** The fields that each surface's error answers have, under different names. */
export type ErrorFields = { code: string | null; message: string; retryable: boolean; requestId: string | null }

/** Any answer other than 2xx. */
export class ApiError extends Error {
  readonly status: number
  readonly headers: Headers
  /** The error code, for programs. Null if something between client and server made the answer. */
  readonly code: string | null
  /** Whether the same request may succeed if it is sent again. */
  readonly retryable: boolean
  /** The request's id in the server's log. Null if something between client and server made the answer. */
  readonly requestId: string | null

  constructor(status: number, headers: Headers, fields: ErrorFields | null) {
    super(fields?.message ?? `The server answered ${status}.`)
    this.name = 'ApiError'
    this.status = status
    this.headers = headers
    this.code = fields?.code ?? null
    this.retryable = fields?.retryable ?? false
    this.requestId = fields?.requestId ?? null
  }
}

/** The server did not answer in time. The request may have been processed, so the client does not repeat it. */
export class RequestTimeoutError extends Error {
  constructor(timeoutMs: number) {
    super(`The server did not answer within ${timeoutMs} ms.`)
    this.name = 'RequestTimeoutError'
  }
}
