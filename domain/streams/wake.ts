/** Wakes a waiting reader. A ring is remembered until `reset`, so a ring before the wait is not lost. */
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
