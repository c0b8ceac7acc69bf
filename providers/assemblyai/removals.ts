/** Deletions that go on after their caller has been answered, or has left: each bounded in time, all over when the provider is closed. */
import type { Clock } from '../../domain/ports/system.ts'
import type { VendorHttp } from '../wire/http.ts'

const removalMs = 5000

export class Removals {
  readonly #clock: Clock
  readonly #pending = new Set<Promise<void>>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** What fails is left to the vendor's own retention. */
  remove(http: VendorHttp, path: string): void {
    const late = new AbortController()
    const cancel = this.#clock.after(removalMs, () => late.abort())
    const removal = http
      .remove(path, late.signal)
      .catch(() => {})
      .finally(() => {
        cancel()
        this.#pending.delete(removal)
      })
    this.#pending.add(removal)
  }

  async close(): Promise<void> {
    await Promise.all(this.#pending)
  }
}
