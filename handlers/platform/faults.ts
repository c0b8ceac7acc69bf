import { SealError } from '../../domain/access/seal-error.ts'
import { ProviderError } from '../../domain/ports/provider-error.ts'
import type { Log } from '../../domain/ports/system.ts'
import { Fault, type FaultKind } from '../../domain/records/fault.ts'
import { ResourceFault } from '../../domain/records/resource-fault.ts'
import { type ErrorCode, errorCodes } from '../../generated/platform/errors.ts'
import type { ErrorDetails, ErrorEnvelope, ValidationIssue } from '../../generated/platform/types.ts'
import { type FaultAnswer, type FaultWriter, Refusal, type RefusalKind } from '../../runtime/engine/handler.ts'
import { docUrl } from '../../runtime/http/doc-url.ts'
import { sayResourceFault } from '../faults/resource-words.ts'
import { hintOf, messageOf } from '../faults/table.ts'
import { RepeatedFault } from './repeated-fault.ts'

/** The platform API's code for each refusal by the HTTP engine or a handler. */
const codeOfRefusal: Record<RefusalKind, ErrorCode> = {
  unauthenticated: 'UNAUTHORIZED',
  forbidden: 'FORBIDDEN',
  disabled: 'ORGANIZATION_DISABLED',
  foreign_origin: 'ORIGIN_NOT_ALLOWED',
  invalid_parameter: 'VALIDATION_ERROR',
  malformed_body: 'VALIDATION_ERROR',
  socket_expected: 'VALIDATION_ERROR',
  payload_too_large: 'PAYLOAD_TOO_LARGE',
  unsupported_media: 'UNSUPPORTED_MEDIA',
  not_found: 'NOT_FOUND',
  method_not_allowed: 'METHOD_NOT_ALLOWED',
  rate_limited: 'RATE_LIMITED',
  overloaded: 'SERVICE_UNAVAILABLE',
  request_timeout: 'VALIDATION_ERROR',
}

/**
 * The platform API's code for each fault. A session is admitted and routed before it starts, so faults in admission and
 * routing can occur. No platform operation returns a provider's result, so any other dispatch fault is a defect in this
 * server.
 */
const codeOfFault = {
  bad_language_tag: 'VALIDATION_ERROR',
  blank_text: 'VALIDATION_ERROR',
  too_much_text: 'VALIDATION_ERROR',
  audio_too_fast: 'INTERNAL_ERROR',
  bad_packet: 'INTERNAL_ERROR',
  unknown_model: 'VALIDATION_ERROR',
  no_such_model: 'VALIDATION_ERROR',
  ambiguous_model: 'VALIDATION_ERROR',
  model_not_allowed: 'VALIDATION_ERROR',
  unknown_pin: 'VALIDATION_ERROR',
  unknown_option: 'VALIDATION_ERROR',
  field_unsupported: 'INTERNAL_ERROR',

  no_provider: 'CAPABILITY_UNSUPPORTED',
  no_streaming_provider: 'CAPABILITY_UNSUPPORTED',
  none_allowed: 'CAPABILITY_UNSUPPORTED',
  all_denied: 'CAPABILITY_UNSUPPORTED',
  test_key_reaches_none: 'CAPABILITY_UNSUPPORTED',
  key_policy_leaves_none: 'FORBIDDEN',
  none_callable: 'PROVIDER_UNAVAILABLE',
  credential_missing: 'CAPABILITY_UNSUPPORTED',
  capability_missing: 'CAPABILITY_UNSUPPORTED',
  language_unsupported: 'CAPABILITY_UNSUPPORTED',
  voice_unknown: 'VALIDATION_ERROR',
  encoding_unsupported: 'CAPABILITY_UNSUPPORTED',

  too_many_at_once: 'CONCURRENCY_EXHAUSTED',
  credit_too_low: 'INSUFFICIENT_CREDITS',
  no_credit_to_stream: 'INSUFFICIENT_CREDITS',
  credit_exhausted: 'INTERNAL_ERROR',

  key_in_progress: 'IDEMPOTENCY_IN_PROGRESS',
  key_already_started: 'SERVICE_UNAVAILABLE',
  key_conflict: 'IDEMPOTENCY_CONFLICT',

  cancelled: 'SERVICE_UNAVAILABLE',
  nothing_to_send: 'INTERNAL_ERROR',
  providers_unreachable: 'INTERNAL_ERROR',
  providers_busy: 'INTERNAL_ERROR',
  all_rate_limited: 'INTERNAL_ERROR',
  stream_rate_limited: 'INTERNAL_ERROR',
  timed_out: 'INTERNAL_ERROR',
  all_unsupported: 'INTERNAL_ERROR',
  all_failed: 'INTERNAL_ERROR',
  provider_refused: 'INTERNAL_ERROR',
  stream_broken: 'INTERNAL_ERROR',
  json_truncated: 'INTERNAL_ERROR',

  overloaded: 'SERVICE_UNAVAILABLE',
  store_unreachable: 'SERVICE_UNAVAILABLE',
  internal: 'INTERNAL_ERROR',
} as const satisfies Record<FaultKind, ErrorCode>

type Answer = {
  code: ErrorCode
  isCodeless?: true
  status?: number
  message?: string | undefined
  hint?: string | undefined
  issues?: ValidationIssue[]
  details?: ErrorDetails
  retryAfterS?: number | undefined
  allow?: string
  headers?: Record<string, string>
  cause?: unknown
}

/** The keyword of an issue that was not found by a JSON Schema keyword. */
const unreadable = 'readable'

/**
 * The hint if the request may have taken effect already, for example because a response was lost between two processes.
 */
const perhapsDone =
  'It may have been done all the same: look whether it was, and ask again with a new Idempotency-Key if not.'

/** Without this header, an SDK repeats a 503 with a new idempotency key, and the request would take effect twice. */
const notAgain = { 'x-should-retry': 'false' }

/**
 * The messages for a stored secret that cannot be decrypted. They do not suggest to repeat the request, because the
 * repeat would fail too.
 */
const sealedWords = {
  message: 'A stored secret that this request needs cannot be opened by this server',
  hint: 'Tell the operator: the server has another master key than the one with which it was sealed. Or set the secret anew.',
}

/** The wait in Retry-After if the fault states no wait, in seconds. */
const retryAfterLeastS = 1

/**
 * Writes errors for the platform API. If an error is unexpected, the client receives `INTERNAL_ERROR` with the request
 * id, and the rest is logged.
 */
export function createPlatformFaultWriter(log: Log, count: (code: ErrorCode) => void): FaultWriter {
  return (error, requestId, logFields) => {
    if (error instanceof RepeatedFault) return error.answer
    const answer = answerTo(error)
    const { code, cause } = answer
    count(code)
    if (error instanceof SealError)
      log.error({ requestId, ...logFields, reason: error.message }, 'a secret does not open')
    else if (code === 'INTERNAL_ERROR') log.error({ requestId, ...logFields, err: error }, 'request failed')
    // A ProviderError is not logged here, because it was logged when the attempt failed.
    else if (cause !== undefined && !(cause instanceof ProviderError))
      log.warn({ requestId, ...logFields, code, err: cause }, 'request refused')
    return written(answer, requestId)
  }
}

/** Returns the HTTP status for an error. */
export function statusOf(error: unknown): number {
  if (error instanceof RepeatedFault) return error.answer.status
  const { code, status = errorCodes[code].status } = answerTo(error)
  return status
}

function answerTo(error: unknown): Answer {
  if (error instanceof Refusal) return answerToRefusal(error)
  if (error instanceof ResourceFault) return { ...sayResourceFault(error.data), cause: error.cause }
  if (error instanceof SealError) return { code: 'INTERNAL_ERROR', ...sealedWords }
  const code = error instanceof Fault ? codeOfFault[error.kind] : 'INTERNAL_ERROR'
  if (!(error instanceof Fault) || code === 'INTERNAL_ERROR') return { code: 'INTERNAL_ERROR' }
  const { data, detail } = error
  const { retryAfterS, isKeySpent, cause } = detail
  // The usual message for `credit_too_low` is about one request with a known price, so the code's usual message is
  // used.
  if (data.kind === 'credit_too_low' && !data.budget) return { code, cause }
  // The usual hint for `store_unreachable` names an idempotency key, but platform requests need no such key.
  const usual =
    data.kind === 'store_unreachable' ? undefined : hintOf(data, { retryAfterS: retryAfterS ?? 0, withNewKey: '' })
  const spent = isKeySpent && { hint: perhapsDone, headers: notAgain }
  return { code, message: messageOf(data), hint: usual, ...spent, retryAfterS, cause }
}

/** Returns the issues in settings that did not come with this request. Null if the error is not about the settings. */
export function issuesOf(error: unknown): ValidationIssue[] | null {
  if (!(error instanceof Fault) && !(error instanceof ResourceFault)) return null
  const { code, message, issues } = answerTo(error)
  if (code === 'INTERNAL_ERROR' || code === 'SERVICE_UNAVAILABLE') return null
  return issues ?? [{ path: '', message: message ?? errorCodes[code].message, keyword: 'enum' }]
}

/**
 * Writes a refusal. A validation error always lists its issues. An unreadable body gives one issue, whose path names
 * the whole body.
 */
function answerToRefusal({ kind, detail }: Refusal): Answer {
  const { keyword = '', param = '', issues, ...answer } = detail
  const code = codeOfRefusal[kind]
  if (code !== 'VALIDATION_ERROR') return { code, ...answer }
  const only = { path: param, message: answer.message ?? errorCodes[code].message, keyword: keyword || unreadable }
  return { code, ...answer, issues: [...(issues ?? [only])] }
}

function written(
  { code, message, hint, issues, details, allow, retryAfterS, status = errorCodes[code].status, ...more }: Answer,
  requestId: string,
): FaultAnswer {
  const row = errorCodes[code]
  // An unreadable body has no field to name, so the hint does not refer to the issues.
  const usual = code === 'VALIDATION_ERROR' && issues === undefined ? 'Correct the request.' : row.hint
  const headers: Record<string, string> = { ...more.headers }
  if (status === 429 || status === 503 || retryAfterS !== undefined)
    headers['Retry-After'] = String(Math.ceil(retryAfterS ?? retryAfterLeastS))
  if (status === 401) headers['WWW-Authenticate'] = 'Bearer'
  if (allow !== undefined) headers['Allow'] = allow
  const body: ErrorEnvelope = {
    error: `${sentence(message ?? row.message)} ${hint ?? usual}`.trimEnd(),
    ...(!more.isCodeless && { code }),
    ...(issues && { issues }),
    ...(details && { details, ...ofProvider(details) }),
    requestId,
    ...(!more.isCodeless && { doc_url: docUrl('platform', code) }),
  }
  return { status, headers, body: JSON.stringify(body) }
}

/** Copies the two fields that published clients read beside the error code. */
function ofProvider({ providerStatus, providerDetail }: ErrorDetails): Partial<ErrorEnvelope> {
  return {
    ...(providerStatus !== undefined && { providerStatus }),
    ...(providerDetail !== undefined && { providerDetail }),
  }
}

/** Ends a message with a full stop, because the HTTP engine's messages about fields lack it. */
function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`
}
