/**
 * A lease is for a request or for a session. The organization's limit counts only requests and streams, because
 * sessions have a separate limit, `maxSessions`. The key's limit counts both.
 */
export type LeaseKind = 'request' | 'session'

/** Maximum leases at once. Null means no limit. */
export type ConcurrencyLimits = { organizationMax: number | null; keyMax: number | null }

/** Ends the lease. A second call does nothing. */
export type EndLease = () => void

/** The limit that refused: the organization's or its key's. */
export type LeaseRefusal = 'organization' | 'key'

/**
 * Concurrency limits by organization and by key. They hold across all processes and nodes on one database. If an
 * instance dies, its leases no longer count.
 */
export interface Limits {
  /** Answers without a promise if the counts are in memory, so that a request need not wait. */
  acquire(
    organizationId: string,
    keyId: string,
    limits: ConcurrencyLimits,
    kind: LeaseKind,
  ): EndLease | LeaseRefusal | Promise<EndLease | LeaseRefusal>
}
