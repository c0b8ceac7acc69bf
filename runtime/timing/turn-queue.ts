/**
 * Items that may wait for a moment. Each turn of the event loop takes at most `itemsMax` of them, because thousands in
 * one turn would delay every request.
 */
export class TurnQueue<Item> {
  readonly #itemsMax: number
  readonly #run: (item: Item) => void
  readonly #items: Item[] = []
  #isPlanned = false

  /** `run` must not throw. */
  constructor(itemsMax: number, run: (item: Item) => void) {
    this.#itemsMax = itemsMax
    this.#run = run
  }

  add(item: Item): void {
    this.#items.push(item)
    this.#plan()
  }

  #plan(): void {
    if (this.#isPlanned) return
    this.#isPlanned = true
    setImmediate(() => this.#runSome())
  }

  #runSome(): void {
    this.#isPlanned = false
    for (const item of this.#items.splice(0, this.#itemsMax)) this.#run(item)
    if (this.#items.length > 0) this.#plan()
  }
}
