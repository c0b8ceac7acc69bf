/**
 * An outage of a provider as a whole: failures in a row over all its models, without a success between them.
 *
 * While only one model has failed, the provider's other models are suspect. They are ranked after all other providers
 * and tried last, and are not blocked, because one model can fail at a healthy provider. After a second model has
 * failed, no model is tried until the pause is over. In both cases only one attempt at a time probes the provider,
 * until one succeeds.
 */

import type { ErrorClass, ProviderError } from '../ports/provider-error.ts'
import { type AreSeveral, Breaker, type Probe } from './breaker.ts'
import type { Circuit, CircuitLimits } from './circuit.ts'

type FailedAttempt = { organizationId: string; probe: Probe | null; isBlamed: boolean; nowMs: number }

export class Outage {
  /** The models that have failed since the last success. */
  readonly failedModels = new Set<string>()
  readonly #breaker: Breaker

  constructor(limits: CircuitLimits, areSeveral: AreSeveral) {
    this.#breaker = new Breaker(limits, areSeveral)
  }

  get state(): Circuit['state'] {
    return this.#breaker.state
  }

  /** Returns true if the provider is healthy again. */
  get isOver(): boolean {
    return this.#breaker.isIdle
  }

  /**
   * Returns true during a pause or a probe. After the pause the provider is ranked as before, and the next request
   * probes it.
   */
  get isSuspect(): boolean {
    return this.#breaker.state === 'open' || this.#breaker.state === 'probing'
  }

  /**
   * Returns the time when the provider may be probed, in milliseconds on the monotonic clock. Infinity if its circuit
   * is not open.
   */
  get elapsesAtMs(): number {
    return this.#breaker.elapsesAtMs
  }

  /** Returns for how long the organization may not try any model, or null if it may try a model now. */
  blockedMs(organizationId: string | null, nowMs: number): number | null {
    if (this.#breaker.state === 'open' && this.failedModels.size <= 1) return null
    return this.#breaker.blockedMs(organizationId, nowMs)
  }

  /**
   * Begins an attempt. Call this only after all checks allowed the attempt. Returns a probe if the attempt probes the
   * provider.
   */
  begin(organizationId: string, nowMs: number): Probe | null {
    return this.#breaker.begin(organizationId, nowMs)
  }

  alive(nowMs: number): void {
    this.#breaker.alive(nowMs)
  }

  succeeded(nowMs: number): void {
    this.#breaker.succeeded(nowMs)
    this.failedModels.clear()
  }

  /** Counts a failed attempt. `probe` is the result of `begin`. `isBlamed`: the failure counts against the model. */
  failed(model: string, error: ProviderError, { organizationId, probe, isBlamed, nowMs }: FailedAttempt): void {
    const { errorClass } = error
    const counts = !error.isOurs && (isBlamed || meanings[errorClass] !== 'failed')
    const meaning = counts ? meanings[errorClass] : 'nothing'
    if (meaning === 'answered' && error.sent) this.succeeded(nowMs)
    else if (meaning !== 'failed') this.#breaker.abandoned(probe, nowMs)
    else {
      if (this.#breaker.counts(organizationId)) this.failedModels.add(model)
      this.#breaker.failed(organizationId, probe, nowMs)
    }
  }

  elapse(nowMs: number): void {
    this.#breaker.elapse(nowMs)
  }
}

/**
 * Maps each error class to its meaning for the provider's health. Any refusal is an answer, so it proves that the
 * provider works.
 */
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
