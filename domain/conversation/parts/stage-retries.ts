/**
 * Decides when to try speech to text, the LLM or text to speech again after its providers have failed: at once, then
 * after growing delays, until no provider has worked for 10 s.
 */
import type { Fault } from '../../records/fault.ts'

/** If speech to text, the LLM or text to speech has no working provider for this long, the session ends. */
export const nobodyMs = 10_000
const retryMs = [0, 250, 500, 1000, 2000]

export class StageRetries {
  #failures = 0
  #failingSinceMs: number | null = null

  /** Returns the number of failures since a provider last worked. */
  get failures(): number {
    return this.#failures
  }

  worked(): void {
    this.#failures = 0
    this.#failingSinceMs = null
  }

  /** Returns the delay before the next attempt, or null if no further attempt is made and the session must end. */
  delayMs(fault: Fault, nowMs: number): number | null {
    this.#failingSinceMs ??= nowMs
    if (isHopeless(fault) || nowMs - this.#failingSinceMs >= nobodyMs) return null
    return retryMs[Math.min(this.#failures++, retryMs.length - 1)] as number
  }
}

/** Returns true if a retry cannot help, because the organization has no credit. */
export function isHopeless({ kind }: Fault): boolean {
  return kind === 'credit_exhausted' || kind === 'credit_too_low' || kind === 'no_credit_to_stream'
}
