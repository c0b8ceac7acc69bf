/**
 * Notices that the far end of an answered leg is gone although no BYE has come, as after a power cut. A far end that holds the
 * call, or leaves silence out, sends no packets either, so their absence alone ends nothing: it is asked by OPTIONS in the
 * dialog, and any other answer than these means that it is there. It is gone where it does not know the dialog (481), where the
 * request does not reach it (408), and where nothing answers for 32 s (RFC 3261, section 12.2.1.2).
 */
import type { Clock } from '../../domain/ports/system.ts'

export type FarEndWatchDeps = {
  clock: Pick<Clock, 'after'>
  /**
   * How long the far end may send no packet. Then the far end is asked (OPTIONS) whether it still has the call, and
   * again after each further time of this length without a packet.
   */
  quietMaxMs: number
  /** Since the last packet of the far end. */
  quietMs: () => number
  /** How many packets the far end has sent since the audio began. */
  packets: () => number
  /** Sends the question. `answered` is called once, with the code of the answer; null: there was none. */
  ask: (answered: (code: number | null) => void) => void
  gone: () => void
}

export class FarEndWatch {
  readonly #deps: FarEndWatchDeps
  #cancel = () => {}
  #isStopped = false

  constructor(deps: FarEndWatchDeps) {
    this.#deps = deps
    this.#later(deps.quietMaxMs)
  }

  stop(): void {
    this.#isStopped = true
    this.#cancel()
  }

  #later(delayMs: number): void {
    this.#cancel()
    if (!this.#isStopped) this.#cancel = this.#deps.clock.after(delayMs, () => this.#look())
  }

  #look(): void {
    const { quietMaxMs, quietMs, packets, ask } = this.#deps
    const leftMs = quietMaxMs - quietMs()
    if (leftMs > 0) return this.#later(leftMs)
    const before = packets()
    ask((code) => this.#answered(code, before))
  }

  /** A packet that has come since the question shows that the far end is there, also where the answer is lost. */
  #answered(code: number | null, before: number): void {
    const { quietMaxMs, packets, gone } = this.#deps
    if (this.#isStopped) return
    if (saysGone(code) && packets() === before) return gone()
    this.#later(quietMaxMs)
  }
}

const saysGone = (code: number | null) => code === null || code === 408 || code === 481
