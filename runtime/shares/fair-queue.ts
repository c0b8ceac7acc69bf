/**
 * A queue for several owners. An owner has a turn when the queue hands out an item for this owner. The next owner is
 * always the owner whose last turn was longest ago, and each owner's items keep their order. So an owner with its first
 * item does not wait for a busy owner's second turn.
 */

/**
 * The limit for owners with a remembered turn. If there are more, the oldest turn is forgotten, as if the owner were
 * new.
 */
const turnsMax = 256

export class FairQueue<Item> {
  /**
   * Each owner's items. The owners are in the order of their last turns. A Set removes any item quickly and keeps the
   * order.
   */
  readonly #items = new Map<string, Set<Item>>()
  /** The number of each owner's last turn, also for owners without items. The oldest turn is the first entry. */
  readonly #turns = new Map<string, number>()
  #turn = 0
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
    const items = this.#items.get(owner)
    if (items) items.add(item)
    else this.#insert(owner, new Set([item]))
    this.#size++
  }

  /** Removes and returns the owner's first item. The owner then goes to the end. */
  takeFrom(owner: string): Item | undefined {
    const items = this.#items.get(owner)
    const first = items?.values().next()
    if (!items || !first || first.done) return undefined
    this.delete(owner, first.value)
    this.countTurn(owner)
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

  /** Counts a turn of an owner whose item did not have to wait. The owner must not have items in the queue. */
  countTurn(owner: string): void {
    this.#turns.delete(owner)
    this.#turns.set(owner, ++this.#turn)
    if (this.#turns.size <= turnsMax) return
    for (const oldest of this.#turns.keys()) return void this.#turns.delete(oldest)
  }

  /** Inserts the owner before all owners that had a turn since its last turn. */
  #insert(owner: string, items: Set<Item>): void {
    const turnOf = (other: string) => this.#turns.get(other) ?? 0
    const later = [...this.#items].filter(([other]) => turnOf(other) > turnOf(owner))
    this.#items.set(owner, items)
    for (const [other, others] of later) {
      this.#items.delete(other)
      this.#items.set(other, others)
    }
  }
}
