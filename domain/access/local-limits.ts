import type { ConcurrencyLimits, EndLease, LeaseRefusal } from './limits.ts'

export type LocalLimits = ReturnType<typeof createLocalLimits>

/** How many leases one key holds in this process. */
export type HeldLeases = { organizationId: string; keyId: string; held: number }

/**
 * Counts the leases of this process in memory, so it is right only while no other instance serves the same
 * organizations. An entry lives only while a lease does. `onEnd` is called once for each lease that ends.
 */
export function createLocalLimits(onEnd: (organizationId: string, keyId: string) => void = () => {}) {
  const organizations = new Map<string, number>()
  // Ids of keys are unique across organizations.
  const keys = new Map<string, HeldLeases>()

  function add(organizationId: string, keyId: string): EndLease {
    organizations.set(organizationId, (organizations.get(organizationId) ?? 0) + 1)
    let key = keys.get(keyId)
    if (key === undefined) {
      key = { organizationId, keyId, held: 0 }
      keys.set(keyId, key)
    }
    key.held += 1
    let ended = false
    return () => {
      if (ended) return
      ended = true
      remove(key)
      onEnd(organizationId, keyId)
    }
  }

  function remove(key: HeldLeases): void {
    const organizationHeld = (organizations.get(key.organizationId) ?? 0) - 1
    if (organizationHeld > 0) organizations.set(key.organizationId, organizationHeld)
    else organizations.delete(key.organizationId)
    key.held -= 1
    if (key.held === 0) keys.delete(key.keyId)
  }

  return {
    acquire(organizationId: string, keyId: string, limits: ConcurrencyLimits): EndLease | LeaseRefusal {
      const { organizationMax, keyMax } = limits
      if (organizationMax !== null && (organizations.get(organizationId) ?? 0) >= organizationMax) return 'organization'
      if (keyMax !== null && (keys.get(keyId)?.held ?? 0) >= keyMax) return 'key'
      return add(organizationId, keyId)
    },
    /** Counts a lease that was granted without these counts. */
    add,
    held: (): HeldLeases[] => [...keys.values()].map((key) => ({ ...key })),
  }
}
