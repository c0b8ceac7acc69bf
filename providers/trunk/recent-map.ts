/** A map that forgets its oldest entry when it is full. Its keys come from senders, so its size must have a limit. */
export class RecentMap<Value> {
  readonly #entries = new Map<string, Value>()
  readonly #max: number

  constructor(max: number) {
    this.#max = max
  }

  get(key: string): Value | undefined {
    return this.#entries.get(key)
  }

  /** Sets the value. The entry is then the newest. */
  set(key: string, value: Value): void {
    this.#entries.delete(key)
    this.#entries.set(key, value)
    if (this.#entries.size <= this.#max) return
    for (const oldest of this.#entries.keys()) return void this.#entries.delete(oldest)
  }
}
