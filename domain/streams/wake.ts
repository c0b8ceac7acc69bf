/** Wakes a waiting reader. A `ring` is stored until `reset`, so that a reader that begins to wait later wakes too. */
export class Wake {
  #isRung = false
  #resolve: (() => void) | null = null

  reset(): void {
    this.#isRung = false
  }

  ring(): void {
    this.#isRung = true
    this.#resolve?.()
    this.#resolve = null
  }

  rung(): Promise<void> {
    if (this.#isRung) return Promise.resolve()
    return new Promise((resolve) => {
      this.#resolve = resolve
    })
  }
}
