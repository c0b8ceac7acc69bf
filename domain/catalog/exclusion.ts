import type { Capability } from '../ports/model.ts'

/** Explains why a model is not a candidate. A routing preview shows one of these words. */
export type ExclusionReason =
  | 'not_pinned'
  | 'not_allowed'
  | 'denied'
  | 'test_key'
  | 'key_policy'
  | `capability:${Capability}`
  | 'language'
  | 'voice'
  | 'encoding'
  | 'unavailable'
  | 'credential_cooling'
  | 'circuit_open'

/** The kinds of exclusion reasons: all capabilities count as one kind. */
export type FilterKind = Exclude<ExclusionReason, `capability:${string}`> | 'capability'
