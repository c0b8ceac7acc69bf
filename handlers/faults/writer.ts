import { ProviderError } from '../../domain/ports/provider-error.ts'
import type { Log } from '../../domain/ports/system.ts'
import { type AttemptReport, Fault } from '../../domain/records/fault.ts'
import { type ErrorCode, errorCodes } from '../../generated/router/errors.ts'
import { type FaultAnswer, type FaultWriter, Refusal, type RefusalKind } from '../../runtime/engine/handler.ts'
import { renameHeader } from '../../runtime/engine/head.ts'
import { docUrl } from '../../runtime/http/doc-url.ts'
import { otherOperation } from '../realtime-conversations.ts'
import { type HintSurface, hintsOf, socketHint, withNewKey } from './hints.ts'
import { LocatedFault } from './located-fault.ts'
import type { Places } from './row.ts'
import { hintOf, messageOf, rowOf } from './table.ts'

/** The router contract's code for each refusal by the HTTP engine or a handler. */
const codeOfRefusal: Record<RefusalKind, ErrorCode> = {
  unauthenticated: 'authentication_failed',
  forbidden: 'access_denied',
  disabled: 'organization_disabled',
  foreign_origin: 'origin_not_allowed',
  invalid_parameter: 'invalid_parameter',
  malformed_body: 'invalid_request',
  socket_expected: 'invalid_request',
  payload_too_large: 'payload_too_large',
  unsupported_media: 'unsupported_media',
  not_found: 'not_found',
  method_not_allowed: 'method_not_allowed',
  rate_limited: 'rate_limited',
  overloaded: 'service_unavailable',
  request_timeout: 'invalid_request',
}

/** Hints for fields that only other services' APIs have. Each hint says what to send instead. */
const hintOfField: ReadonlyMap<string, string> = new Map([
  ['/previous_response_id', 'Responses are not stored: resend the whole history in input, function results included.'],
  ['/session/type', `Only transcription sessions exist. ${otherOperation}`],
])

/** The shortest wait in Retry-After. */
const retryAfterLeastS = 1

export type FaultSurface = HintSurface & {
  log: Log
  count: (code: ErrorCode) => void
  /** Replaces `Service` in names of headers. */
  headerPrefix: string
  places: Places
}

type Answer = {
  code: ErrorCode
  message?: string | undefined
  hint?: string | undefined
  param?: string | null | undefined
  retryAfterS?: number | undefined
  originalRequestId?: string
  attempts?: readonly AttemptReport[] | undefined
  isKeySpent?: boolean | undefined
  isFinal?: true | undefined
  allow?: string | undefined
  cause?: unknown
}

/**
 * Writes errors for the router API and the OpenAI-compatible API. If an error is neither a fault nor a refusal, the
 * client receives `relay_error` with the request id only, and the rest is logged.
 */
export function createFaultWriter(surface: FaultSurface): FaultWriter {
  const { log, count, headerPrefix } = surface
  const hints = hintsOf(surface)
  return (error, requestId, logFields) => {
    const answer = answerTo(error, surface)
    const { code, cause } = answer
    count(code)
    if (code === 'relay_error') log.error({ requestId, ...logFields, err: error }, 'request failed')
    // A ProviderError is not logged here, because it was logged when the attempt failed.
    else if (cause !== undefined && !(cause instanceof ProviderError))
      log.warn({ requestId, ...logFields, code, err: cause }, 'request refused')
    const hint = answer.hint ?? hintOfField.get(answer.param ?? '') ?? hints[code]
    const param = answer.param ? renameHeader(answer.param, headerPrefix) : undefined
    return written({ ...answer, hint, param }, requestId)
  }
}

function answerTo(error: unknown, surface: FaultSurface): Answer {
  if (error instanceof Fault) return answerToFault(error, surface)
  if (error instanceof LocatedFault) return { ...answerToFault(error.fault, surface), param: error.param }
  if (!(error instanceof Refusal)) return { code: 'relay_error' }
  const { param, message, retryAfterS, allow } = error.detail
  const hint = error.kind === 'socket_expected' ? socketHint(surface) : error.detail.hint
  return { code: codeOfRefusal[error.kind], param, message, hint, retryAfterS, allow }
}

function answerToFault({ data, detail }: Fault, surface: FaultSurface): Answer {
  const { code, codeByName, isFinal, param } = rowOf(data)
  return {
    ...detail,
    code: surface.places.namesModel ? (codeByName ?? code) : code,
    isFinal,
    message: messageOf(data),
    hint: hintOf(data, { retryAfterS: detail.retryAfterS ?? 0, withNewKey: withNewKey(surface) }),
    param: param?.(surface.places, data),
    ...('originalRequestId' in data && { originalRequestId: data.originalRequestId }),
  }
}

function written(answer: Answer, requestId: string): FaultAnswer {
  const { status: ownStatus } = errorCodes[answer.code]
  const status = ownStatus ?? 500
  const retryAfterS = answer.retryAfterS ?? (status === 429 || status === 503 ? retryAfterLeastS : undefined)
  const headers: Record<string, string> = {}
  if (retryAfterS !== undefined) headers['Retry-After'] = String(Math.ceil(retryAfterS))
  if (status === 401) headers['WWW-Authenticate'] = 'Bearer'
  if (answer.allow !== undefined) headers['Allow'] = answer.allow
  // Without this header, OpenAI's SDKs repeat a 409 and every 5xx twice with the same idempotency key. A spent
  // idempotency key cannot run again.
  if (status === 409 || answer.isKeySpent || answer.isFinal) headers['x-should-retry'] = 'false'
  return { status, headers, body: JSON.stringify({ error: envelope(answer, requestId, retryAfterS) }) }
}

function envelope(answer: Answer, requestId: string, retryAfterS: number | undefined): object {
  const { code, message, hint, param, originalRequestId, attempts } = answer
  const row = errorCodes[code]
  return {
    code,
    message: message ?? row.message,
    hint: (hint ?? row.hint).slice(0, 512),
    retryable: row.retryable,
    request_id: requestId,
    type: row.type,
    doc_url: docUrl('router', code),
    // If a property is undefined, JSON leaves it out.
    param,
    retry_after_seconds: retryAfterS === undefined ? undefined : Math.ceil(retryAfterS),
    original_request_id: originalRequestId,
    attempts,
  }
}
