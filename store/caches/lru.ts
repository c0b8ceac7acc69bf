/**
 * A cache with bounded size, by the clock algorithm from page replacement. The Map keeps the insertion order. To free
 * an entry, the cache looks at the oldest entry. If the entry was used since the last check, it moves to the end;
 * otherwise it is deleted. Reading an entry does not move it, because a Map rebuilds its table again and again if each
 * request deletes and adds an entry (see Roster).
 */
export type Lru<Value> = {
  get(key: string): Value | undefined
  set(key: string, value: Value): void
  delete(key: string): void
  /** Deletes entries for which `isGone` returns true. Looks at every entry. */
  deleteWhere(isGone: (value: Value) => boolean): void
  clear(): void
}

export function createLru<Value>(entriesMax: number): Lru<Value> {
  const entries = new Map<string, { value: Value; wasUsed: boolean }>()

  function makeRoom(): void {
    for (const [key, entry] of entries) {
      entries.delete(key)
      if (!entry.wasUsed) return
      entry.wasUsed = false
      entries.set(key, entry)
    }
  }

  return {
    get(key) {
      const entry = entries.get(key)
      if (entry === undefined) return undefined
      entry.wasUsed = true
      return entry.value
    },
    set(key, value) {
      const entry = entries.get(key)
      if (entry) entry.value = value
      else {
        if (entries.size >= entriesMax) makeRoom()
        entries.set(key, { value, wasUsed: false })
      }
    },
    delete: (key) => void entries.delete(key),
    deleteWhere(isGone) {
      for (const [key, { value }] of entries) if (isGone(value)) entries.delete(key)
    },
    clear: () => entries.clear(),
  }
}
