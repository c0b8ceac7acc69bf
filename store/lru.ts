/** A Map keeps the order of insertion: what is used moves to the end, what is first goes when it is full. */
export type Lru<Value> = {
  get(key: string): Value | undefined
  set(key: string, value: Value): void
  delete(key: string): void
  /** Looks at every entry. */
  deleteWhere(isGone: (value: Value) => boolean): void
  clear(): void
}

export function createLru<Value>(entriesMax: number): Lru<Value> {
  const entries = new Map<string, Value>()
  return {
    get(key) {
      const value = entries.get(key)
      if (value === undefined) return undefined
      entries.delete(key)
      entries.set(key, value)
      return value
    },
    set(key, value) {
      entries.delete(key)
      entries.set(key, value)
      if (entries.size <= entriesMax) return
      for (const oldest of entries.keys()) {
        entries.delete(oldest)
        break
      }
    },
    delete: (key) => void entries.delete(key),
    deleteWhere(isGone) {
      for (const [key, value] of entries) if (isGone(value)) entries.delete(key)
    },
    clear: () => entries.clear(),
  }
}
