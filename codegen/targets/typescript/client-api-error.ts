/** The error classes that the clients of all APIs share. */

/** The fields that each surface's error answers have, under different names. */
export type ErrorFields = { code: string | null; message: string; retryable: boolean; requestId: string | null }

/** The base of all errors that a client throws for the server or the connection. */
export class ParleyError extends Error {
  override name = 'ParleyError'
}

/** Any answer other than 2xx. Redirects are not followed: a browser shows the status 0 for a redirect. */
export class ApiError extends ParleyError {
  readonly status: number
  readonly headers: Headers
  /** The error code, for programs. Null if something between client and server made the answer. */
  readonly code: string | null
  /** True if the same request may succeed when it is sent again. */
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

/** There was no connection, or the connection was lost before the whole answer had come. */
export class ConnectionError extends ParleyError {
  /** False if the request never reached the server. If true, the server may have processed the request. */
  readonly wasSent: boolean

  constructor(message: string, { cause, wasSent = true }: { cause?: unknown; wasSent?: boolean } = {}) {
    super(message, { cause })
    this.name = 'ConnectionError'
    this.wasSent = wasSent
  }
}

/** The server did not answer in time. The request may have been processed, so the client does not repeat it. */
export class RequestTimeoutError extends ParleyError {
  constructor(timeoutMs: number, options?: ErrorOptions) {
    super(`The server did not answer within ${timeoutMs} ms.`, options)
    this.name = 'RequestTimeoutError'
  }
}

/** The answer is not as the contract says, such as a page of HTML from a proxy. */
export class ProtocolError extends ParleyError {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'ProtocolError'
  }
}
