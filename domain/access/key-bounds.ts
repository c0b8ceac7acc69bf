/**
 * Bounds the keys that a key makes or changes. Without the bounds, a key with a budget could give a larger budget to
 * itself or to another key.
 */
import type { KeyPolicy } from '../records/organization.ts'

/** The limits of a key. `expiresAtMs` is null if the key does not end by itself. */
export type KeyBounds = { policy: KeyPolicy; expiresAtMs: number | null }

/** Returns the first field in which `wanted` is wider than the maker's own key. Null if it is within the bounds. */
export function widerField(own: KeyBounds, wanted: KeyBounds): string | null {
  if (own.expiresAtMs !== null && (wanted.expiresAtMs ?? Number.POSITIVE_INFINITY) > own.expiresAtMs) return 'expiresAt'
  const { budget, allowProviders, maxConcurrency } = own.policy
  if (budget && !(wanted.policy.budget?.period === budget.period && wanted.policy.budget.microUsd <= budget.microUsd))
    return 'policy.budget'
  if (allowProviders && !wanted.policy.allowProviders?.every((each) => allowProviders.includes(each)))
    return 'policy.allow_providers'
  if (maxConcurrency !== undefined && (wanted.policy.maxConcurrency ?? Number.POSITIVE_INFINITY) > maxConcurrency)
    return 'policy.max_concurrency'
  return null
}
