import { Fault } from '../records/fault.ts'
import type { Caller } from '../records/organization.ts'
import type { EndLease, LeaseKind, LeaseRefusal, Limits } from './limits.ts'

/**
 * Takes a concurrency lease for a request, or for a session with all its turns. The calling code must end the lease.
 * Throws the fault `too_many_at_once`. Returns without a promise if the counts are in memory.
 */
export function takeLease(
  limits: Limits,
  { organization, keyId, policy }: Caller,
  kind: LeaseKind,
): EndLease | Promise<EndLease> {
  const most = { organizationMax: organization.maxConcurrency, keyMax: policy.maxConcurrency ?? null }
  const lease = limits.acquire(organization.id, keyId, most, kind)
  return lease instanceof Promise ? lease.then(granted) : granted(lease)
}

function granted(lease: EndLease | LeaseRefusal): EndLease {
  if (typeof lease === 'function') return lease
  throw new Fault({ kind: 'too_many_at_once', limit: lease }, { retryAfterS: 1 })
}
