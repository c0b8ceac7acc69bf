import type { ConcurrencyLimits, EndLease, LeaseKind, LeaseRefusal } from './limits.ts'

export type LocalLimits = ReturnType<typeof createLocalLimits>

/** One key's leases in this process. `held` counts all leases, `sessions` only the sessions' leases. */
export type KeyLeases = { organizationId: string; keyId: string; held: number; sessions: number }

/**
 * Counts this process's leases in memory. The counts are right only while no other process serves the same
 * organizations. An entry in the maps exists only while its organization or key has a lease. `onEnd` is called once
 * when a lease ends.
 */
export function createLocalLimits(onEnd: (organizationId: string, keyId: string, kind: LeaseKind) => void = () => {}) {
  /** Counts requests and streams, without sessions, by organization. */
  const organizations = new Map<string, number>()
  // Key ids are unique across organizations.
  const keys = new Map<string, KeyLeases>()

  function add(organizationId: string, keyId: string, kind: LeaseKind): EndLease {
    if (kind === 'request') organizations.set(organizationId, (organizations.get(organizationId) ?? 0) + 1)
    let key = keys.get(keyId)
    if (key === undefined) {
      key = { organizationId, keyId, held: 0, sessions: 0 }
      keys.set(keyId, key)
    }
    key.held += 1
    if (kind === 'session') key.sessions += 1
    let ended = false
    return () => {
      if (ended) return
      ended = true
      remove(key, kind)
      onEnd(organizationId, keyId, kind)
    }
  }

  function remove(key: KeyLeases, kind: LeaseKind): void {
    if (kind === 'session') key.sessions -= 1
    else removeRequest(key.organizationId)
    key.held -= 1
    if (key.held === 0) keys.delete(key.keyId)
  }

  function removeRequest(organizationId: string): void {
    const remaining = (organizations.get(organizationId) ?? 0) - 1
    if (remaining > 0) organizations.set(organizationId, remaining)
    else organizations.delete(organizationId)
  }

  return {
    acquire(
      organizationId: string,
      keyId: string,
      { organizationMax, keyMax }: ConcurrencyLimits,
      kind: LeaseKind,
    ): EndLease | LeaseRefusal {
      if (kind === 'request' && organizationMax !== null && (organizations.get(organizationId) ?? 0) >= organizationMax)
        return 'organization'
      if (keyMax !== null && (keys.get(keyId)?.held ?? 0) >= keyMax) return 'key'
      return add(organizationId, keyId, kind)
    },
    /** Counts a lease granted by other code, without checking the limits. */
    add,
    leasesByKey: (): KeyLeases[] => [...keys.values()].map((key) => ({ ...key })),
  }
}
