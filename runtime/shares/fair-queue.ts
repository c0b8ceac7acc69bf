/** A queue for several owners. It serves one owner after another, and each owner's items in their order. */
export class FairQueue<Item> {
  /** The owner at the start is next. A Set removes any item quickly and keeps the order. */
  readonly #items = new Map<string, Set<Item>>()
  #size = 0

  get size(): number {
    return this.#size
  }

  /** The owners with items. The next owner comes first. */
  owners(): Iterable<string> {
    return this.#items.keys()
  }

  *items(): Iterable<Item> {
    for (const items of this.#items.values()) yield* items
  }

  has(owner: string): boolean {
    return this.#items.has(owner)
  }

  add(owner: string, item: Item): void {
    const items = this.#items.get(owner) ?? new Set<Item>()
    this.#items.set(owner, items.add(item))
    this.#size++
  }

  /** Removes and returns the owner's first item. The owner then goes to the end. */
  takeFrom(owner: string): Item | undefined {
    const items = this.#items.get(owner)
    const first = items?.values().next()
    if (!items || !first || first.done) return undefined
    this.delete(owner, first.value)
    if (this.#items.delete(owner)) this.#items.set(owner, items)
    return first.value
  }

  /** Removes and returns the next owner's first item. */
  take(): Item | undefined {
    for (const owner of this.#items.keys()) return this.takeFrom(owner)
    return undefined
  }

  delete(owner: string, item: Item): void {
    const items = this.#items.get(owner)
    if (!items?.delete(item)) return
    this.#size--
    if (items.size === 0) this.#items.delete(owner)
  }
}
