import type { ErrorCode } from '../generated/router/errors.ts'
import type { FilterKind } from './catalog/exclusion.ts'

export type AttemptReport = { provider: string; model: string; outcome: string; milliseconds: number }

export type FaultDetail = {
  /** What the caller should read; falls back to the public message of the code's row in the spec. Never provider payload or request content. */
  message?: string
  /** One line, at most 512 characters, that says what to do. */
  hint?: string
  /** A JSON pointer, a header or a query name. */
  param?: string
  /** Which filter left no candidate. For surfaces that have a code for it; no envelope shows it. */
  filter?: FilterKind
  /** What could serve this is here, and busy. For surfaces that tell that from what is away; no envelope shows it. */
  isFull?: boolean
  retryAfterS?: number
  originalRequestId?: string
  attempts?: AttemptReport[]
  /** For the log only. */
  cause?: unknown
  /** After dispatch a retry needs a new key, so an SDK must not repeat the same one by itself: `x-should-retry: false`. */
  afterDispatch?: boolean
}

/** A refusal that has a code in the contract. Everything else that is thrown is `relay_error`. */
export class Fault extends Error {
  readonly code: ErrorCode
  readonly detail: FaultDetail

  constructor(code: ErrorCode, detail: FaultDetail = {}) {
    super(detail.message ?? code, { cause: detail.cause })
    this.name = 'Fault'
    this.code = code
    this.detail = detail
  }
}
