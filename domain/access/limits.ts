/**
 * A lease is taken for a request or for a session. The limit of an organization counts requests and streams only,
 * because sessions have another limit, `maxSessions`. The limit of a key counts both.
 */
export type LeaseKind = 'request' | 'session'

/** How many leases there may be at once. Null is no limit. */
export type ConcurrencyLimits = { organizationMax: number | null; keyMax: number | null }

/** Ends the lease; a second call does nothing. */
export type EndLease = () => void

/** The limit that refused: the organization's or its key's. */
export type LeaseRefusal = 'organization' | 'key'

/**
 * Concurrency limits by organization and by key. They hold across every process of every node that serves from one database,
 * and the leases of an instance that died count no longer.
 */
export interface Limits {
  /** Answers at once where the counts are in memory, so that a request need not wait for a promise. */
  acquire(
    organizationId: string,
    keyId: string,
    limits: ConcurrencyLimits,
    kind: LeaseKind,
  ): EndLease | LeaseRefusal | Promise<EndLease | LeaseRefusal>
}
