/**
 * An outage of a provider as a whole: failures in a row over all its models, without a success between them.
 *
 * While only one model has failed, the provider's other models are suspect. They are placed behind every other provider
 * and tried only if nothing else is left, because one model can fail at a healthy provider. After a second model has
 * failed, no model is tried until the pause is over. In both cases only one attempt at a time probes the provider,
 * until one succeeds.
 */

import type { ErrorClass, ProviderError } from '../ports/provider-error.ts'
import { type Circuit, type CircuitEvent, type CircuitLimits, closed, move } from './circuit.ts'

type FailedAttempt = { isProbe: boolean; isBlamed: boolean; nowMs: number }

export class Outage {
  readonly #limits: CircuitLimits
  /** The models that have failed since the last success. */
  readonly failedModels = new Set<string>()
  #circuit: Circuit = closed

  constructor(limits: CircuitLimits) {
    this.#limits = limits
  }

  /** Returns true if the provider is healthy again. */
  get isOver(): boolean {
    return this.#circuit === closed
  }

  /**
   * Returns true during a pause or a probe. After the pause the provider is ranked as before, and the next request
   * probes it.
   */
  get isSuspect(): boolean {
    return this.#circuit.state === 'open' || this.#circuit.state === 'probing'
  }

  /** Returns the pause's end in milliseconds on the monotonic clock. Infinity if there is no pause. */
  get elapsesAtMs(): number {
    return this.#circuit.state === 'open' ? this.#circuit.untilMs : Number.POSITIVE_INFINITY
  }

  /** Returns for how long no model may be tried, or null if a model may be tried now. */
  blockedMs(nowMs: number): number | null {
    const { state, untilMs, openMs } = this.#circuit
    if (state === 'probing') return openMs
    return state === 'open' && this.failedModels.size > 1 ? Math.max(0, untilMs - nowMs) : null
  }

  /** Begins an attempt after all checks. Returns true if the attempt probes the provider. */
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

  /** Counts a failed attempt. `isProbe` is the result of `begin` for this attempt. `isBlamed`: the failure counts against the model. */
  failed(model: string, error: ProviderError, { isProbe, isBlamed, nowMs }: FailedAttempt): void {
    const { errorClass } = error
    const counts = !error.isOurs && (isBlamed || meanings[errorClass] !== 'failed')
    const meaning = counts ? meanings[errorClass] : 'nothing'
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

/** The meaning of each error for the provider. A refusal of any kind is an answer, so the provider works. */
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
