import type { Capability } from '../ports/model.ts'

/** Why a model is not a candidate. Preview shows this closed list. */
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

/** An exclusion's reason without the capability's name. */
export type FilterKind = Exclude<ExclusionReason, `capability:${string}`> | 'capability'
