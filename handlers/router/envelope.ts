import type { FilterKind } from '../../domain/catalog/exclusion.ts'
import { Fault, type FaultDetail } from '../../domain/fault.ts'
import type { Log } from '../../domain/ports/system.ts'
import { type ErrorCode, errorCodes } from '../../generated/router/errors.ts'
import { type FaultAnswer, type FaultWriter, Refusal, type RefusalKind } from '../../runtime/engine/handler.ts'
import { renameHeader } from '../../runtime/engine/header-names.ts'

/** What the engine refuses by itself, in this surface's words. */
const codeOfRefusal: Record<RefusalKind, ErrorCode> = {
  unauthenticated: 'authentication_failed',
  forbidden: 'access_denied',
  invalid_parameter: 'invalid_parameter',
  malformed_body: 'invalid_request',
  payload_too_large: 'payload_too_large',
  unsupported_media: 'unsupported_media',
  not_found: 'not_found',
  method_not_allowed: 'method_not_allowed',
  rate_limited: 'rate_limited',
  overloaded: 'service_unavailable',
  request_timeout: 'invalid_request',
}

/** Fields of other services that clients bring along, and what to do here instead. */
const hintOfField: Readonly<Record<string, string>> = {
  '/previous_response_id': 'Responses are not stored: resend the whole history in input, function results included.',
}

/** Answers that must say when to come back carry at least this. */
const retryAfterLeastS = 1

export type FaultSurface = {
  log: Log
  count: (code: ErrorCode) => void
  /** Replaces `Service` in names of headers. */
  headerPrefix: string
  /** The path at which the surface serves its contract. */
  contract: string
  hasIdempotencyKeys: boolean
  /** Where a request says what took the last candidate. */
  paramOfFilter: Partial<Record<FilterKind, string>>
}

/**
 * The one place that makes an error of the router and compat surfaces. Whatever is no Fault and no Refusal is `relay_error`: the caller learns the
 * request id, the log learns the rest.
 */
export function createFaultWriter(surface: FaultSurface): FaultWriter {
  const { log, count } = surface
  return (error, requestId) => {
    const { code, detail, allow } = inWordsOf(surface, classify(error))
    count(code)
    if (code === 'relay_error') log.error({ requestId, err: error }, 'request failed')
    else if (detail.cause !== undefined) log.warn({ requestId, code, err: detail.cause }, 'request refused')
    return answer(code, detail, requestId, allow)
  }
}

type Classified = { code: ErrorCode; detail: FaultDetail; allow?: string }

/** Codes and their hints are those of the router surface; what they name is somewhere else here, or is not here at all. */
function inWordsOf(surface: FaultSurface, classified: Classified): Classified {
  const { headerPrefix, contract, hasIdempotencyKeys, paramOfFilter } = surface
  const { code, detail } = classified
  const at = detail.param ?? (detail.filter && paramOfFilter[detail.filter])
  const param = at === undefined ? {} : { param: renameHeader(at, headerPrefix) }
  const said = detail.hint ?? hintOfField[detail.param ?? ''] ?? errorCodes[code].hint
  const hint = said.replace('at openapi.json', `at ${contract}`)
  return {
    ...classified,
    detail: { ...detail, ...param, hint: hasIdempotencyKeys ? hint : hint.replace(' with a new Idempotency-Key', '') },
  }
}

function classify(error: unknown): Classified {
  if (error instanceof Fault) return { code: error.code, detail: error.detail }
  if (!(error instanceof Refusal)) return { code: 'relay_error', detail: {} }
  const { allow, ...detail } = error.detail
  return { code: codeOfRefusal[error.kind], detail, ...(allow === undefined ? {} : { allow }) }
}

function answer(code: ErrorCode, detail: FaultDetail, requestId: string, allow?: string): FaultAnswer {
  const row = errorCodes[code]
  const status = row.status ?? 500
  const retryAfterS = detail.retryAfterS ?? (status === 429 || status === 503 ? retryAfterLeastS : undefined)
  const headers: Record<string, string> = {}
  if (retryAfterS !== undefined) headers['Retry-After'] = String(Math.ceil(retryAfterS))
  if (status === 401) headers['WWW-Authenticate'] = 'Bearer'
  if (allow !== undefined) headers['Allow'] = allow
  // OpenAI's SDKs repeat a 409 and every 5xx twice with the same key unless they are told not to.
  if (status === 409 || detail.afterDispatch) headers['x-should-retry'] = 'false'
  return { status, headers, body: JSON.stringify({ error: envelope(code, detail, requestId, retryAfterS) }) }
}

function envelope(code: ErrorCode, detail: FaultDetail, requestId: string, retryAfterS: number | undefined): object {
  const row = errorCodes[code]
  return {
    code,
    message: detail.message ?? row.message,
    hint: (detail.hint ?? row.hint).slice(0, 512),
    retryable: row.retryable,
    request_id: requestId,
    type: row.type,
    ...(detail.param === undefined ? {} : { param: detail.param }),
    ...(retryAfterS === undefined ? {} : { retry_after_seconds: Math.ceil(retryAfterS) }),
    ...(detail.originalRequestId === undefined ? {} : { original_request_id: detail.originalRequestId }),
    ...(detail.attempts === undefined ? {} : { attempts: detail.attempts }),
  }
}
