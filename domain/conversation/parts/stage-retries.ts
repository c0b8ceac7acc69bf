/** The retries of a stage whose providers fail: at once, then ever later, until no provider has worked for 10 s. */
import type { Fault } from '../../records/fault.ts'

/** A stage without a provider for this long ends the session. */
export const nobodyMs = 10_000
const retryMs = [0, 250, 500, 1000, 2000]

export class StageRetries {
  #failures = 0
  #failingSinceMs: number | null = null

  /** How often the stage has failed since a provider worked. */
  get failures(): number {
    return this.#failures
  }

  worked(): void {
    this.#failures = 0
    this.#failingSinceMs = null
  }

  /** How long to wait after this failure. Null: the stage is lost. */
  delayMs(fault: Fault, nowMs: number): number | null {
    this.#failingSinceMs ??= nowMs
    if (isHopeless(fault) || nowMs - this.#failingSinceMs >= nobodyMs) return null
    return retryMs[Math.min(this.#failures++, retryMs.length - 1)] as number
  }
}

/** Waiting does not help. */
export function isHopeless({ kind }: Fault): boolean {
  return kind === 'credit_exhausted' || kind === 'credit_too_low' || kind === 'no_credit_to_stream'
}
