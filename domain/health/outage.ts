/**
 * Whether a provider as a whole has stopped answering: failures in a row over all of its models, with not one success between.
 *
 * While one model alone has failed, the others are only suspected: they stand behind every other provider, and are tried where nobody else is left,
 * because a model can be ill in a healthy house. As soon as a second one fails too, nothing of the provider is tried until the
 * pause is over. Either way only one call at a time finds out, until one succeeds.
 */

import type { ErrorClass, ProviderError } from '../ports/provider-error.ts'
import { type Circuit, type CircuitEvent, type CircuitLimits, closed, move } from './circuit.ts'

export class Outage {
  readonly #limits: CircuitLimits
  /** Those that failed since the last success. */
  readonly failedModels = new Set<string>()
  #circuit: Circuit = closed

  constructor(limits: CircuitLimits) {
    this.#limits = limits
  }

  /** Nothing speaks against the provider. */
  get isOver(): boolean {
    return this.#circuit === closed
  }

  /** Of late it did not answer, and nothing has been heard since. Once the pause is over it is ranked as ever: the next request finds out. */
  get isSuspect(): boolean {
    return this.#circuit.state === 'open' || this.#circuit.state === 'probing'
  }

  /** When the pause is over; infinity where there is none. Milliseconds on the monotonic clock. */
  get elapsesAtMs(): number {
    return this.#circuit.state === 'open' ? this.#circuit.untilMs : Number.POSITIVE_INFINITY
  }

  /** For how long nothing may be tried; null where something may. */
  blockedMs(nowMs: number): number | null {
    const { state, untilMs, openMs } = this.#circuit
    if (state === 'probing') return openMs
    return state === 'open' && this.failedModels.size > 1 ? Math.max(0, untilMs - nowMs) : null
  }

  /** An attempt that nothing blocks. True: it is the one that finds out. */
  begin(nowMs: number): boolean {
    if (this.#circuit.state === 'closed') return false
    this.#move('begin', nowMs)
    return true
  }

  alive(nowMs: number): void {
    this.#move('alive', nowMs)
  }

  succeeded(nowMs: number): void {
    this.#move('success', nowMs)
    this.failedModels.clear()
  }

  /** `isProbe`: what `begin` answered for this attempt. */
  failed(model: string, error: ProviderError, isProbe: boolean, nowMs: number): void {
    const meaning = error.isOurLimit ? 'nothing' : meanings[error.errorClass]
    if (meaning === 'answered' && error.sent) this.succeeded(nowMs)
    else if (meaning !== 'failed') {
      if (isProbe) this.#move('abandoned', nowMs)
    } else {
      this.failedModels.add(model)
      if (isProbe || this.#circuit.state === 'closed') this.#move('failure', nowMs)
    }
  }

  elapse(nowMs: number): void {
    this.#move('elapsed', nowMs)
  }

  #move(event: CircuitEvent, nowMs: number): void {
    this.#circuit = move(this.#circuit, event, this.#limits, nowMs)
  }
}

/** A refusal is an answer, whatever it refuses. */
const meanings: Record<ErrorClass, 'failed' | 'answered' | 'nothing'> = {
  auth: 'answered',
  quota: 'answered',
  bad_request: 'answered',
  rate_limited: 'answered',
  unsupported: 'nothing',
  cancelled: 'nothing',
  overloaded: 'failed',
  timeout: 'failed',
  protocol: 'failed',
  empty: 'failed',
  unreachable: 'failed',
  server: 'failed',
}
