import type { Fault } from '../../domain/fault.ts'
import type { RealtimeErrorCode } from '../../generated/realtime/errors.ts'
import type { ErrorCode } from '../../generated/router/errors.ts'

/** What a fault of the domain is called on a socket. A code that is missing here is ours. */
const codes: Partial<Record<ErrorCode, RealtimeErrorCode>> = {
  invalid_parameter: 'INVALID_CONFIG',
  invalid_request: 'INVALID_CONFIG',
  capability_unsupported: 'INVALID_CONFIG',
  access_denied: 'INVALID_CONFIG',
  insufficient_credit: 'BUDGET_EXHAUSTED',
  budget_exhausted: 'BUDGET_EXHAUSTED',
  rate_limited: 'RATE_LIMITED',
  concurrency_exhausted: 'RATE_LIMITED',
  provider_rate_limited: 'RATE_LIMITED',
  provider_unavailable: 'UPSTREAM',
  provider_error: 'UPSTREAM',
  request_timeout: 'UPSTREAM',
  service_unavailable: 'SHUTTING_DOWN',
}

/** What emptied the list of candidates has a name of its own where a client can do something about it. */
const codesOfFilter: Readonly<Record<string, RealtimeErrorCode>> = {
  language: 'UNSUPPORTED_LANGUAGE',
  voice: 'VOICE_NOT_FOUND',
}

export function codeOfFault({ code, detail }: Fault): RealtimeErrorCode {
  if (code === 'invalid_parameter' && detail.param === '/text') return 'TEXT_TOO_LONG'
  // Nothing has broken: the same session succeeds once somebody else's has ended.
  if (detail.isFull) return 'RATE_LIMITED'
  return codesOfFilter[detail.filter ?? ''] ?? codes[code] ?? 'INTERNAL'
}
