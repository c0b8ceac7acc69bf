import type { Row } from '../catalog/catalog.ts'
import type { Path } from '../ports/model.ts'
import type { Provider } from '../ports/provider.ts'
import type { ProviderError } from '../ports/provider-error.ts'
import type { Clock } from '../ports/system.ts'
import type { AreSeveral } from './breaker.ts'
import type { Circuit } from './circuit.ts'
import {
  type Blocked,
  blameOf,
  type CircuitCounts,
  Circuits,
  type Failed,
  type HealthLimits,
  noProbes,
  type Probes,
  type Tried,
} from './circuits.ts'
import { type LiveFigures, LiveSeries, type Sample } from './live-figures.ts'

export type { HealthLimits } from './circuits.ts'

/** A permit to make one attempt and to report the attempt's result. Only the first result counts. */
export interface AttemptPermit {
  /** Reports that the first media byte has arrived. */
  alive(): void
  succeeded(sample: Omit<Sample, 'failed'>): void
  failed(error: ProviderError): void
}

/** Limits how many organizations have separate circuits in memory, and the circuits per organization. */
const organizationsMax = 500
const ownCircuitsMax = 100
const alone: AreSeveral = () => false
const notClosed: ReadonlySet<Circuit['state']> = new Set(['open', 'half_open', 'probing'])
/**
 * Half-open circuits are not counted: if an organization sends no further requests, its circuit would be counted for
 * ever.
 */
const refusing: ReadonlySet<Circuit['state']> = new Set(['open', 'probing'])

/**
 * Tracks circuits and outages, and live figures by model and path. `version` changes when the result of `blocked`
 * changes for all organizations, also by time alone. A ranking may be cached until then.
 *
 * On a server with several organizations, each organization has separate circuits for its failures. The circuits for
 * all organizations open only if several organizations have failures (see breaker.ts).
 */
export class Health {
  readonly #clock: Clock
  readonly #limits: HealthLimits
  readonly #areSeveral: AreSeveral
  readonly #shared: Circuits
  /** The circuits of each organization, by its id. An organization without an entry had no failure. */
  readonly #own = new Map<string, Circuits>()
  readonly #series: Record<Path, Map<string, LiveSeries>> = { stream: new Map(), batch: new Map() }
  /** The last result of `areSeveral`. */
  #wereSeveral = false
  #version = 0
  #staleAtMs = Number.POSITIVE_INFINITY

  constructor(clock: Clock, limits: HealthLimits, areSeveral: AreSeveral = alone) {
    this.#clock = clock
    this.#limits = limits
    this.#areSeveral = areSeveral
    this.#shared = new Circuits(limits, areSeveral)
  }

  version(): number {
    const nowMs = this.#clock.monotonicMs()
    this.#shared.update(nowMs)
    if (this.#areSeveral() !== this.#wereSeveral) this.#learnsSeveral()
    if (nowMs >= this.#staleAtMs) this.#forgetStale(nowMs)
    return this.#version + this.#shared.version
  }

  /** True if every provider is healthy. This is the usual case, and then no row needs a check. */
  get isClear(): boolean {
    return this.#shared.isClear
  }

  /**
   * Returns why no attempt may start now, or null if an attempt may start. `ownKeyId` names the organization's provider
   * key for the attempt, or is null if the operator's credential is used. Without `organizationId` the answer is for
   * any organization.
   */
  blocked(row: Row, ownKeyId: string | null = null, organizationId: string | null = null): Blocked | null {
    const own = organizationId === null ? undefined : this.#own.get(organizationId)
    if (this.#shared.isClear && !own) return null
    const nowMs = this.#clock.monotonicMs()
    const blocked = this.#shared.blocked(row, ownKeyId, organizationId, nowMs)
    return blocked ?? own?.blocked(row, ownKeyId, organizationId, nowMs) ?? null
  }

  /**
   * Returns true if the provider has stopped answering, so all other providers are ranked before it. The answer is as
   * of the last `version` call.
   */
  suspects({ id }: Provider): boolean {
    return this.#shared.suspects(id)
  }

  /**
   * Counts a provider's circuits that are not closed. `model` counts circuits of models, and also circuits for one
   * credential's rate limit at one model.
   */
  openCircuits(providerId: string): CircuitCounts {
    this.version()
    return this.#shared.count(providerId, notClosed)
  }

  /**
   * Counts the organizations whose own circuit at the provider is open after their own failures. Their requests wait,
   * although other organizations' requests may be served.
   */
  waitingOrganizations(providerId: string): CircuitCounts {
    const nowMs = this.#clock.monotonicMs()
    const waiting = { model: 0, credential: 0 }
    for (const own of this.#own.values()) {
      own.update(nowMs)
      const { model, credential } = own.count(providerId, refusing)
      waiting.model += Math.min(model, 1)
      waiting.credential += Math.min(credential, 1)
    }
    return waiting
  }

  figures(row: Row, path: Path): LiveFigures | null {
    const measured = this.#series[path]
    return measured.size > 0 ? (measured.get(row.key)?.shown() ?? null) : null
  }

  /** Returns the metric's 95th percentile over recent answers. Null if too few were measured. */
  p95(row: Row, path: Path, metric: 'firstByteMs' | 'realTimeFactor'): number | null {
    return this.#series[path].get(row.key)?.p95(metric, this.#clock.monotonicMs()) ?? null
  }

  /** Counts the model's recent answers. */
  samples(row: Row, path: Path): number {
    return this.#series[path].get(row.key)?.samples(this.#clock.monotonicMs()) ?? 0
  }

  /**
   * Begins an attempt. Returns null if a circuit does not admit it: the circuit is open, or half-open with a probe
   * under way.
   */
  begin(row: Row, path: Path, ownKeyId: string | null = null, organizationId = ''): AttemptPermit | null {
    if (this.blocked(row, ownKeyId, organizationId)) return null
    const attempt: Permitted = { row, path, ownKeyId, organizationId, shared: noProbes, own: noProbes }
    const own = this.#own.get(organizationId)
    if (!this.#shared.isClear || own) {
      const nowMs = this.#clock.monotonicMs()
      attempt.shared = this.#shared.begin(attempt, nowMs)
      if (own) attempt.own = own.begin(attempt, nowMs)
    }
    return new CountedPermit(this, attempt)
  }

  /** Handles a first media byte. Only permits call `alive`, `succeeded` and `failed`. */
  alive(attempt: Permitted): void {
    const nowMs = this.#clock.monotonicMs()
    this.#shared.alive(attempt, nowMs)
    this.#own.get(attempt.organizationId)?.alive(attempt, nowMs)
  }

  succeeded(attempt: Permitted, sample: Omit<Sample, 'failed'>): void {
    const nowMs = this.#clock.monotonicMs()
    this.#shared.succeeded(attempt, nowMs)
    const own = this.#own.get(attempt.organizationId)
    own?.succeeded(attempt, nowMs)
    if (own?.isClear) this.#own.delete(attempt.organizationId)
    this.#sample(attempt.row, attempt.path, { failed: false, ...sample })
  }

  failed(attempt: Permitted, error: ProviderError): void {
    const { row, path, ownKeyId, organizationId } = attempt
    const nowMs = this.#clock.monotonicMs()
    const failed = { error, blame: blameOf(error, ownKeyId) }
    const blameless: Failed = { error, blame: 'nobody' }
    const areSeveral = this.#areSeveral()
    const own = areSeveral ? this.#ownOf(organizationId) : this.#own.get(organizationId)
    const isSampled = this.#isSampled(attempt, failed, own)
    // The request itself may have asked for an empty answer, so an empty answer must not open the organization's
    // circuit.
    own?.failed(attempt, attempt.own, error.errorClass === 'empty' ? blameless : failed, nowMs)
    if (own?.isClear) this.#own.delete(organizationId)
    // A failure of an organization's provider key concerns only this organization.
    this.#shared.failed(attempt, attempt.shared, areSeveral && ownKeyId !== null ? blameless : failed, nowMs)
    if (isSampled) this.#sample(row, path, { failed: true })
    if (failed.blame === 'model') this.#forgive(this.#shared.failingModels(row))
  }

  /**
   * Returns true if the failure counts in the live figures. All organizations share the figures, so a failure caused by
   * one organization's account at the provider must not change them. The model's failures with an organization's key
   * count in the figures, because the successes with the key count too. On a server with several organizations, only
   * the first failure of an organization since its success counts. Otherwise one organization's requests could lower
   * the model's rank for all.
   */
  #isSampled(attempt: Permitted, { error, blame }: Failed, own: Circuits | undefined): boolean {
    if (error.errorClass === 'empty' && !this.#shared.counts(attempt, blame)) return false
    const isModels = blame === 'model' || (blame === 'allowance' && error.errorClass !== 'rate_limited')
    if (blame === 'nobody' || (!isModels && attempt.ownKeyId !== null)) return false
    return !own?.isFailing(attempt, blame)
  }

  /**
   * If the server now has several organizations, circuits that one organization opened no longer block the others, so
   * results of `blocked` change.
   */
  #learnsSeveral(): void {
    this.#wereSeveral = this.#areSeveral()
    this.#version += 1
  }

  /**
   * Returns the organization's circuits. Adds them if the organization has no circuits yet, and then drops the oldest
   * organization's circuits if there are too many.
   */
  #ownOf(organizationId: string): Circuits {
    const known = this.#own.get(organizationId)
    if (known) return known
    const oldest = this.#own.size >= organizationsMax ? this.#own.keys().next().value : undefined
    if (oldest !== undefined) this.#own.delete(oldest)
    const circuits = new Circuits(this.#limits, alone, ownCircuitsMax)
    this.#own.set(organizationId, circuits)
    return circuits
  }

  /**
   * Drops failures from the live figures if a circuit counts them, because the figures would otherwise show the outage
   * for too long.
   */
  #forgive(models: Iterable<string>): void {
    for (const key of models)
      for (const series of [this.#series.stream.get(key), this.#series.batch.get(key)])
        if (series?.forgive(this.#clock.nowMs())) this.#version += 1
  }

  /** Adds a sample to the live figures. A model outside the catalog is never ranked and has no figures. */
  #sample(row: Row, path: Path, sample: Sample): void {
    if (!row.isListed) return
    const series = this.#series[path].get(row.key) ?? new LiveSeries()
    this.#series[path].set(row.key, series)
    if (series.add(sample, this.#clock.monotonicMs(), this.#clock.nowMs())) this.#version += 1
    this.#staleAtMs = Math.min(this.#staleAtMs, series.staleAtMs())
  }

  #forgetStale(nowMs: number): void {
    this.#staleAtMs = Number.POSITIVE_INFINITY
    for (const all of [this.#series.stream, this.#series.batch])
      for (const [key, series] of all) {
        if (series.staleAtMs() > nowMs) {
          this.#staleAtMs = Math.min(this.#staleAtMs, series.staleAtMs())
        } else {
          all.delete(key)
          if (series.shown()) this.#version += 1
        }
      }
  }
}

/** An attempt with a permit. */
type Permitted = Tried & {
  path: Path
  shared: Probes
  own: Probes
}

/**
 * A permit. It is one object instead of several closures to save memory, because a stream keeps its permit for hours.
 */
class CountedPermit implements AttemptPermit {
  readonly #health: Health
  readonly #attempt: Permitted
  #ended = false

  constructor(health: Health, attempt: Permitted) {
    this.#health = health
    this.#attempt = attempt
  }

  alive(): void {
    this.#health.alive(this.#attempt)
  }

  succeeded(sample: Omit<Sample, 'failed'>): void {
    if (this.#end()) this.#health.succeeded(this.#attempt, sample)
  }

  failed(error: ProviderError): void {
    if (this.#end()) this.#health.failed(this.#attempt, error)
  }

  /** Ends the permit. Returns false if it has ended before. */
  #end(): boolean {
    if (this.#ended) return false
    this.#ended = true
    return true
  }
}
