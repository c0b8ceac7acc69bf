/**
 * The kind of work that a concurrency lease admits. The organization's limit counts only requests and streams, because
 * sessions have a separate limit, `maxSessions`. The key's limit counts both.
 */
export type LeaseKind = 'request' | 'session'

/** The maximum numbers of concurrent leases. Null means no limit. */
export type ConcurrencyLimits = { organizationMax: number | null; keyMax: number | null }

/** Ends the lease. A second call does nothing. */
export type EndLease = () => void

/** The limit that refused a lease: the organization's limit or its key's limit. */
export type LeaseRefusal = 'organization' | 'key'

/**
 * Concurrency limits by organization and by key. The limits apply across all processes and machines with one database.
 * If a process dies, its leases no longer count.
 */
export interface Limits {
  /**
   * Takes a lease. Returns the function to end it, or the limit because of which the lease was refused. Returns without
   * a promise if the counts are in memory, so a request need not wait.
   */
  acquire(
    organizationId: string,
    keyId: string,
    limits: ConcurrencyLimits,
    kind: LeaseKind,
  ): EndLease | LeaseRefusal | Promise<EndLease | LeaseRefusal>
}
