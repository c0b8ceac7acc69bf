import type { ConcurrencyLimits, EndLease, LeaseRefusal } from './limits.ts'

/**
 * Counts the leases of this process in memory, so it is right only while no other instance serves the same organizations.
 * An entry lives only while a lease does.
 */
export function createLocalLimits() {
  const organizations = new Map<string, number>()
  const keys = new Map<string, number>()

  return {
    acquire(organizationId: string, keyId: string, limits: ConcurrencyLimits): EndLease | LeaseRefusal {
      if (isFull(organizations, organizationId, limits.organizationMax)) return 'organization'
      if (isFull(keys, keyId, limits.keyMax)) return 'key'
      add(organizations, organizationId, 1)
      add(keys, keyId, 1)
      let ended = false
      return () => {
        if (ended) return
        ended = true
        add(organizations, organizationId, -1)
        add(keys, keyId, -1)
      }
    },
  }
}

function isFull(counts: Map<string, number>, id: string, max: number | null): boolean {
  return max !== null && (counts.get(id) ?? 0) >= max
}

function add(counts: Map<string, number>, id: string, change: number): void {
  const count = (counts.get(id) ?? 0) + change
  if (count > 0) counts.set(id, count)
  else counts.delete(id)
}
