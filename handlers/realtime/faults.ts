import type { FaultKind } from '../../domain/records/fault.ts'
import type { RealtimeErrorCode } from '../../generated/realtime/errors.ts'

/** The code for each fault on a socket. */
export const codeOfFault = {
  bad_language_tag: 'INVALID_CONFIG',
  blank_text: 'INVALID_CONFIG',
  too_much_text: 'TEXT_TOO_LONG',
  audio_too_fast: 'RATE_LIMITED',
  bad_packet: 'INVALID_FRAME',
  unknown_model: 'INVALID_CONFIG',
  no_such_model: 'INVALID_CONFIG',
  ambiguous_model: 'INVALID_CONFIG',
  model_not_allowed: 'INVALID_CONFIG',
  unknown_pin: 'INVALID_CONFIG',
  unknown_option: 'INVALID_CONFIG',
  field_unsupported: 'INVALID_CONFIG',

  no_provider: 'UPSTREAM',
  no_streaming_provider: 'UPSTREAM',
  none_allowed: 'INVALID_CONFIG',
  all_denied: 'INVALID_CONFIG',
  test_key_reaches_none: 'INVALID_CONFIG',
  key_policy_leaves_none: 'INVALID_CONFIG',
  none_callable: 'UPSTREAM',
  credential_missing: 'INVALID_CONFIG',
  capability_missing: 'INVALID_CONFIG',
  language_unsupported: 'UNSUPPORTED_LANGUAGE',
  voice_unknown: 'VOICE_NOT_FOUND',
  encoding_unsupported: 'INVALID_CONFIG',

  too_many_at_once: 'RATE_LIMITED',
  credit_too_low: 'BUDGET_EXHAUSTED',
  no_credit_to_stream: 'BUDGET_EXHAUSTED',
  credit_exhausted: 'BUDGET_EXHAUSTED',

  // Sockets have no idempotency keys, so these faults would be our defect.
  key_in_progress: 'INTERNAL',
  key_already_started: 'INTERNAL',
  key_conflict: 'INTERNAL',

  cancelled: 'SHUTTING_DOWN',
  nothing_to_send: 'INVALID_CONFIG',
  providers_unreachable: 'UPSTREAM',
  // This is not an upstream failure: the same stream succeeds as soon as another stream has ended.
  providers_busy: 'RATE_LIMITED',
  all_rate_limited: 'RATE_LIMITED',
  stream_rate_limited: 'RATE_LIMITED',
  timed_out: 'UPSTREAM',
  all_unsupported: 'INVALID_CONFIG',
  all_failed: 'UPSTREAM',
  provider_refused: 'UPSTREAM',
  stream_broken: 'UPSTREAM',
  json_truncated: 'UPSTREAM',

  overloaded: 'SHUTTING_DOWN',
  store_unreachable: 'SHUTTING_DOWN',
  internal: 'INTERNAL',
} as const satisfies Record<FaultKind, RealtimeErrorCode>
