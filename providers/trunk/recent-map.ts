/**
 * A map with a size limit: a full map drops its oldest entry. The limit is needed because remote senders choose the
 * keys.
 */
export class RecentMap<Value> {
  readonly #entries = new Map<string, Value>()
  readonly #max: number

  constructor(max: number) {
    this.#max = max
  }

  get(key: string): Value | undefined {
    return this.#entries.get(key)
  }

  /** Sets the value and makes its entry the newest. */
  set(key: string, value: Value): void {
    this.#entries.delete(key)
    this.#entries.set(key, value)
    if (this.#entries.size <= this.#max) return
    for (const oldest of this.#entries.keys()) return void this.#entries.delete(oldest)
  }
}
