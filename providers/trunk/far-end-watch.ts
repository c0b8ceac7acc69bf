/**
 * Detects a vanished far end on an answered leg if no BYE comes, for example after a power cut. Missing packets alone
 * do not end the leg, because a far end also sends no packets on hold or with silence suppression. So the watch sends
 * OPTIONS in the dialog. The far end has vanished if the dialog is unknown there (481), if the request cannot reach it
 * (408), or if no response arrives within 32 s (RFC 3261, section 12.2.1.2). After any other response the leg
 * continues.
 */
import type { Clock } from '../../domain/ports/system.ts'

export type FarEndWatchDeps = {
  clock: Pick<Clock, 'after'>
  /**
   * If no packet arrives for this long, OPTIONS is sent to check if the far end still has the call. The check is
   * repeated after each such period.
   */
  quietMaxMs: number
  /** Returns the time since the far end's last packet. */
  quietMs: () => number
  /** Returns the number of packets from the far end since the audio began. */
  packets: () => number
  /** Sends OPTIONS. `answered` is called once with the response's code, or with null if no response arrived. */
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

  /**
   * Ends the leg if the far end has vanished. If a packet arrived after OPTIONS was sent, the far end still exists,
   * even if its response was lost.
   */
  #answered(code: number | null, before: number): void {
    const { quietMaxMs, packets, gone } = this.#deps
    if (this.#isStopped) return
    if (saysGone(code) && packets() === before) return gone()
    this.#later(quietMaxMs)
  }
}

const saysGone = (code: number | null) => code === null || code === 408 || code === 481
