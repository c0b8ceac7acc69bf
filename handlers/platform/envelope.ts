import { Fault } from '../../domain/fault.ts'
import type { Log } from '../../domain/ports/system.ts'
import { type ErrorCode, errorCodes } from '../../generated/platform/errors.ts'
import type { ErrorEnvelope, ValidationIssue } from '../../generated/platform/types.ts'
import type { ErrorCode as FaultCode } from '../../generated/router/errors.ts'
import { type FaultAnswer, type FaultWriter, Refusal, type RefusalKind } from '../../runtime/engine/handler.ts'

/** What the engine refuses by itself, in this surface's words. */
const codeOfRefusal: Record<RefusalKind, ErrorCode> = {
  unauthenticated: 'UNAUTHORIZED',
  forbidden: 'FORBIDDEN',
  invalid_parameter: 'VALIDATION_ERROR',
  malformed_body: 'VALIDATION_ERROR',
  payload_too_large: 'PAYLOAD_TOO_LARGE',
  unsupported_media: 'UNSUPPORTED_MEDIA',
  not_found: 'NOT_FOUND',
  method_not_allowed: 'METHOD_NOT_ALLOWED',
  rate_limited: 'RATE_LIMITED',
  overloaded: 'SERVICE_UNAVAILABLE',
  request_timeout: 'VALIDATION_ERROR',
}

/** The faults of the domain that this surface can meet. Any other one is a defect of ours. */
const codeOfFault: Partial<Record<FaultCode, ErrorCode>> = {
  authentication_failed: 'UNAUTHORIZED',
  access_denied: 'FORBIDDEN',
  invalid_parameter: 'VALIDATION_ERROR',
  not_found: 'NOT_FOUND',
  service_unavailable: 'SERVICE_UNAVAILABLE',
}

type Told = {
  code: ErrorCode
  message?: string
  hint?: string
  issues?: ValidationIssue[]
  retryAfterS?: number
  allow?: string
  cause?: unknown
}

/** Said where nothing knows when to come back. */
const retryAfterLeastS = 1

/** The one place that makes an error of the platform surface. What is not foreseen is `INTERNAL_ERROR`: the caller learns the request id, the log learns the rest. */
export function createPlatformFaultWriter(log: Log, count: (code: ErrorCode) => void): FaultWriter {
  return (error, requestId) => {
    const told = classify(error)
    count(told.code)
    if (told.code === 'INTERNAL_ERROR') log.error({ requestId, err: error }, 'request failed')
    else if (told.cause !== undefined) log.warn({ requestId, code: told.code, err: told.cause }, 'request refused')
    return answer(told, requestId)
  }
}

function classify(error: unknown): Told {
  if (error instanceof Refusal) {
    const { keyword = '', ...detail } = error.detail
    return withIssue({ code: codeOfRefusal[error.kind], ...detail }, detail, keyword)
  }
  const code = error instanceof Fault ? codeOfFault[error.code] : undefined
  if (!(error instanceof Fault) || code === undefined) return { code: 'INTERNAL_ERROR' }
  const { message, hint, retryAfterS, cause } = error.detail
  const told = {
    code,
    ...(message && { message }),
    ...(hint && { hint }),
    ...(retryAfterS !== undefined && { retryAfterS }),
    cause,
  }
  return withIssue(told, error.detail, 'value')
}

/** What is wrong, where the request says it in one place that has a name. */
function withIssue(told: Told, { param, message = '' }: { param?: string; message?: string }, keyword: string): Told {
  if (told.code !== 'VALIDATION_ERROR' || param === undefined) return told
  return { ...told, issues: [{ path: param, message, keyword }] }
}

function answer({ code, message, hint, issues, allow, ...told }: Told, requestId: string): FaultAnswer {
  const row = errorCodes[code]
  const headers: Record<string, string> = {}
  if (row.status === 429 || row.status === 503)
    headers['Retry-After'] = String(Math.ceil(told.retryAfterS ?? retryAfterLeastS))
  if (row.status === 401) headers['WWW-Authenticate'] = 'Bearer'
  if (allow !== undefined) headers['Allow'] = allow
  const body: ErrorEnvelope = {
    error: `${sentence(message ?? row.message)} ${hint ?? row.hint}`,
    code,
    ...(issues && { issues }),
    requestId,
  }
  return { status: row.status, headers, body: JSON.stringify(body) }
}

/** What the engine says of a field has no full stop. */
function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`
}
