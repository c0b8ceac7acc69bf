/**
 * The kind of work with a lease. The organization's limit counts only requests and streams, because sessions have a
 * separate limit, `maxSessions`. The key's limit counts both.
 */
export type LeaseKind = 'request' | 'session'

/** The most concurrent leases. Null means no limit. */
export type ConcurrencyLimits = { organizationMax: number | null; keyMax: number | null }

/** Ends the lease. A second call does nothing. */
export type EndLease = () => void

/** Which limit was reached: the organization's or its key's. */
export type LeaseRefusal = 'organization' | 'key'

/**
 * Concurrency limits by organization and by key. They hold across all processes and machines with one database. If a
 * process dies, its leases no longer count.
 */
export interface Limits {
  /** Takes a lease. Returns without a promise if the counts are in memory, so a request need not wait. */
  acquire(
    organizationId: string,
    keyId: string,
    limits: ConcurrencyLimits,
    kind: LeaseKind,
  ): EndLease | LeaseRefusal | Promise<EndLease | LeaseRefusal>
}
