/** How many requests or sessions may be under way at once. Null is no limit. */
export type ConcurrencyLimits = { organizationMax: number | null; keyMax: number | null }

/** Ends the lease; a second call does nothing. */
export type EndLease = () => void

/** Whose limit refused: the organization's own or the one of its key. */
export type LeaseRefusal = 'organization' | 'key'

export interface Leases {
  /** Answers at once where the counts are in memory, so that a request need not wait for a promise. */
  acquire(
    organizationId: string,
    keyId: string,
    limits: ConcurrencyLimits,
  ): EndLease | LeaseRefusal | Promise<EndLease | LeaseRefusal>
}
