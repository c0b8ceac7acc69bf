/**
 * Detects a vanished far end on an answered leg if no BYE comes, for example after a power cut. Missing packets alone
 * end nothing, because a far end sends no packets either while it holds the call or leaves out silence. So the watch
 * sends OPTIONS in the dialog. The far end is gone if it does not know the dialog (481), if the request cannot reach it
 * (408), or if no answer comes within 32 s (RFC 3261, section 12.2.1.2). After any other answer the leg continues.
 */
import type { Clock } from '../../domain/ports/system.ts'

export type FarEndWatchDeps = {
  clock: Pick<Clock, 'after'>
  /**
   * The longest time without a packet. After it, OPTIONS asks if the far end still has the call. The question is
   * repeated each time when no packet has come for this long.
   */
  quietMaxMs: number
  /** Returns the time since the far end's last packet. */
  quietMs: () => number
  /** Returns how many packets came from the far end since the audio began. */
  packets: () => number
  /** Sends OPTIONS. `answered` is called once with the answer's code, or with null if no answer came. */
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
   * Ends the watch if the far end has gone. If a packet came after the question, the far end is still there, even if
   * its answer was lost.
   */
  #answered(code: number | null, before: number): void {
    const { quietMaxMs, packets, gone } = this.#deps
    if (this.#isStopped) return
    if (saysGone(code) && packets() === before) return gone()
    this.#later(quietMaxMs)
  }
}

const saysGone = (code: number | null) => code === null || code === 408 || code === 481
