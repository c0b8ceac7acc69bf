/** Counts running work by name. A name stays in memory only while its count is above zero. */
export class UnderWay {
  readonly #counts = new Map<string, number>()

  of(name: string): number {
    return this.#counts.get(name) ?? 0
  }

  /** Adds one to the count. The returned function subtracts one again; a second call does nothing. */
  begin(name: string): () => void {
    this.#counts.set(name, this.of(name) + 1)
    let hasEnded = false
    return () => {
      if (hasEnded) return
      hasEnded = true
      const left = this.of(name) - 1
      if (left > 0) this.#counts.set(name, left)
      else this.#counts.delete(name)
    }
  }
}
