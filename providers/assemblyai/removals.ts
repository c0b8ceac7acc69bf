/**
 * Deletes transcripts at the vendor in the background, after the request has ended. Each deletion has a deadline, and
 * `close` waits for all deletions.
 */
import type { Clock } from '../../domain/ports/system.ts'
import type { VendorHttp } from '../wire/http.ts'

const removalMs = 5000

export class Removals {
  readonly #clock: Clock
  readonly #pending = new Set<Promise<void>>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Starts a deletion. If it fails, the vendor's retention rules delete the transcript. */
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
