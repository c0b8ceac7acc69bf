/** Counts things that are under way, by name. A name is in memory only while it has one. */
export class UnderWay {
  readonly #counts = new Map<string, number>()

  of(name: string): number {
    return this.#counts.get(name) ?? 0
  }

  /** The returned function ends it. A further call of that does nothing. */
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
