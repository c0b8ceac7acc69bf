import type { Row } from '../catalog/catalog.ts'
import type { Path } from '../ports/model.ts'
import type { Provider } from '../ports/provider.ts'
import type { ErrorClass, ProviderError } from '../ports/provider-error.ts'
import type { Clock } from '../ports/system.ts'
import { admits, type Circuit, type CircuitEvent, type CircuitLimits, closed, move } from './circuit.ts'
import { type LiveFigures, LiveSeries, type Sample } from './live-figures.ts'
import { Outage } from './outage.ts'

export type HealthLimits = { model: CircuitLimits; credential: CircuitLimits }
export type Blocked = { reason: 'circuit_open' | 'credential_cooling'; retryAfterMs: number }

/** The right to make one attempt, and the place to report its result. Only the first result counts. */
export interface AttemptPermit {
  /** Reports that the first media byte came. */
  alive(): void
  succeeded(sample: Omit<Sample, 'failed'>): void
  failed(error: ProviderError): void
}

/**
 * A failure counts against the model, the credential, the credential's allowance for the model, or nothing. It counts
 * against one credential alone: if an organization's key is bad, the operator's credential and the keys of other
 * organizations are still tried. `#blameOf` has the exceptions.
 */
const blames: Record<ErrorClass, 'model' | 'credential' | 'allowance' | 'nobody'> = {
  auth: 'credential',
  quota: 'credential',
  bad_request: 'nobody',
  unsupported: 'nobody',
  cancelled: 'nobody',
  rate_limited: 'allowance',
  overloaded: 'model',
  timeout: 'model',
  protocol: 'model',
  empty: 'model',
  unreachable: 'model',
  server: 'model',
}

/**
 * Tracks circuits by model, by credential, and by a credential's allowance for a model; outages by provider; live
 * figures by model and path. `version` changes when any answer of this object changes, also by time alone, so a ranking
 * may be kept until then.
 */
export class Health {
  readonly #clock: Clock
  readonly #limits: HealthLimits
  /** The circuits by provider, then by key. A provider without an entry is healthy, so one lookup is enough. */
  readonly #circuits = new Map<string, Map<string, Circuit>>()
  readonly #outages = new Map<string, Outage>()
  readonly #series: Record<Path, Map<string, LiveSeries>> = { stream: new Map(), batch: new Map() }
  /** The last organization with an empty answer, by model, since the model's last success. */
  readonly #emptyFor = new Map<string, string>()
  /** The first organization, and whether there was another one since the start. */
  #firstOrganization: string | null = null
  #isShared = false
  #circuitsCount = 0
  #version = 0
  #elapsesAtMs = Number.POSITIVE_INFINITY

  constructor(clock: Clock, limits: HealthLimits) {
    this.#clock = clock
    this.#limits = limits
  }

  version(): number {
    const nowMs = this.#clock.monotonicMs()
    if (nowMs >= this.#elapsesAtMs) this.#elapse(nowMs)
    return this.#version
  }

  /** True if every provider is healthy. This is the usual case, and then no row needs a check. */
  get isClear(): boolean {
    return this.#circuits.size === 0 && this.#outages.size === 0
  }

  /**
   * Returns why no attempt may start now, or null if an attempt may start. `ownKeyId` names the organization's provider
   * key for it, if there is one.
   */
  blocked(row: Row, ownKeyId: string | null = null): Blocked | null {
    const { id } = row.provider
    if (!this.#circuits.has(id) && !this.#outages.has(id)) return null
    this.version()
    return (
      this.#blockedBy(id, credentialOf(row, ownKeyId), 'credential_cooling') ??
      this.#blockedBy(id, row.key, 'circuit_open') ??
      this.#blockedBy(id, allowanceOf(row, ownKeyId), 'circuit_open') ??
      this.#blockedByOutage(id)
    )
  }

  /**
   * Returns true if the provider has stopped answering, so all others are placed before it. The answer is as of the
   * last `version` call.
   */
  suspects({ id }: Provider): boolean {
    return this.#outages.size > 0 && (this.#outages.get(id)?.isSuspect ?? false)
  }

  /** Counts a provider's circuits that are not closed. `model` also counts a credential's allowances for models. */
  openCircuits(providerId: string): { model: number; credential: number } {
    this.version()
    const open = { model: 0, credential: 0 }
    for (const [key, { state }] of this.#circuits.get(providerId) ?? [])
      if (state !== 'closed') open[key.startsWith(credentialPrefix) ? 'credential' : 'model'] += 1
    return open
  }

  figures(row: Row, path: Path): LiveFigures | null {
    const measured = this.#series[path]
    return measured.size > 0 ? (measured.get(row.key)?.shown() ?? null) : null
  }

  /** Returns the time within which 95 of 100 recent answers came. Null if too few were measured. */
  p95(row: Row, path: Path, metric: 'firstByteMs' | 'realTimeFactor'): number | null {
    return this.#series[path].get(row.key)?.p95(metric, this.#clock.monotonicMs()) ?? null
  }

  /**
   * Begins an attempt. Returns null if a circuit does not admit it: the circuit is open, or half-open with a probe
   * under way.
   */
  begin(row: Row, path: Path, ownKeyId: string | null = null, organizationId = ''): AttemptPermit | null {
    if (this.blocked(row, ownKeyId)) return null
    this.#firstOrganization ??= organizationId
    if (organizationId !== this.#firstOrganization) this.#isShared = true
    const { id } = row.provider
    const probesProvider = this.#outages.get(id)?.begin(this.#clock.monotonicMs()) ?? false
    if (probesProvider) this.#version += 1
    const probes = this.#circuits.has(id) ? this.#probed(row, ownKeyId) : none
    return new CountedPermit(this, { row, path, ownKeyId, organizationId, probes, probesProvider })
  }

  /** Makes the next attempt the probe for all its half-open circuits. Returns the circuits' keys. */
  #probed(row: Row, ownKeyId: string | null): readonly string[] {
    const { id } = row.provider
    const probes = circuitsOf(row, ownKeyId).filter((key) => this.#circuit(id, key).state === 'half_open')
    for (const key of probes) this.#move(id, key, 'begin')
    return probes
  }

  /** Handles a first media byte. Only permits call `alive`, `succeeded` and `failed`. */
  alive({ row, ownKeyId }: Permitted): void {
    this.#moveAll(row, ownKeyId, 'alive')
    this.#updateOutage(row.provider.id, (outage, nowMs) => outage.alive(nowMs))
  }

  succeeded({ row, path, ownKeyId }: Permitted, sample: Omit<Sample, 'failed'>): void {
    this.#moveAll(row, ownKeyId, 'success')
    this.#updateOutage(row.provider.id, (outage, nowMs) => outage.succeeded(nowMs))
    this.#sample(row, path, { failed: false, ...sample })
    if (this.#emptyFor.size > 0) this.#emptyFor.delete(row.key)
  }

  failed(attempt: Permitted, error: ProviderError): void {
    const { row, path, probes, ownKeyId, probesProvider } = attempt
    const { id } = row.provider
    const kind = error.isOurs ? 'nobody' : blames[error.errorClass]
    const blame = this.#blameOf(attempt, error)
    const guilty = guiltyOf(row, ownKeyId, blame)
    if (guilty !== null) this.#blame(id, guilty, probes, (error.retryAfterS ?? 0) * 1000)
    for (const key of probes) if (key !== guilty) this.#move(id, key, 'abandoned')
    // If a model is not in the catalog, it may not exist at all, so its failures do not count against the provider.
    if (blame === 'model' && row.isListed && !this.#outages.has(id))
      this.#outages.set(id, new Outage(this.#limits.model))
    if (row.isListed || probesProvider)
      this.#updateOutage(id, (outage, nowMs) =>
        outage.failed(row.key, error, { isProbe: probesProvider, isBlamed: blame === 'model', nowMs }),
      )
    // All organizations share the figures, so the state of one organization's account must not change them. The model's
    // failures with an organization's key are sampled, because the successes are.
    const isSampled = kind === 'model' ? blame !== 'nobody' : kind !== 'nobody' && ownKeyId === null
    if (isSampled) this.#sample(row, path, { failed: true })
    if (blame === 'model') this.#forgiveOutage(id, row.key)
  }

  /**
   * With an organization's provider key, a failing model counts for that key alone. An empty answer can be the caller's
   * wish, for example by stop words. If several organizations use this server, an empty answer counts only after another
   * organization had an empty answer too.
   */
  #blameOf({ row, ownKeyId, organizationId }: Permitted, error: ProviderError): (typeof blames)[ErrorClass] {
    const blame = error.isOurs ? 'nobody' : blames[error.errorClass]
    if (blame === 'model' && ownKeyId !== null) return 'allowance'
    if (error.errorClass !== 'empty' || !this.#isShared) return blame
    const before = this.#emptyFor.get(row.key)
    if (row.isListed) this.#emptyFor.set(row.key, organizationId)
    return before === undefined || before === organizationId ? 'nobody' : blame
  }

  /** Drops failures from the live figures if a circuit counts them. The figures would show the outage too long. */
  #forgiveOutage(id: string, key: string): void {
    const outage = this.#outages.get(id)
    const keys = outage?.isSuspect ? outage.failedModels : this.#circuit(id, key).state === 'open' ? [key] : []
    for (const each of keys)
      for (const series of [this.#series.stream.get(each), this.#series.batch.get(each)])
        if (series?.forgive(this.#clock.nowMs())) this.#version += 1
  }

  #updateOutage(id: string, update: (outage: Outage, nowMs: number) => void): void {
    const outage = this.#outages.get(id)
    if (!outage) return
    update(outage, this.#clock.monotonicMs())
    if (outage.isOver) this.#outages.delete(id)
    this.#elapsesAtMs = Math.min(this.#elapsesAtMs, outage.elapsesAtMs)
    this.#version += 1
  }

  /**
   * Counts a failure against a circuit. Only the probe can open a half-open circuit again. If an older attempt ends
   * meanwhile, it is ignored.
   */
  #blame(id: string, key: string, probes: readonly string[], retryAfterMs: number): void {
    if (probes.includes(key) || this.#circuit(id, key).state === 'closed') this.#move(id, key, 'failure', retryAfterMs)
  }

  #moveAll(row: Row, ownKeyId: string | null, event: CircuitEvent): void {
    const { id } = row.provider
    // A healthy provider has no circuit to move.
    if (this.#circuits.has(id)) for (const key of circuitsOf(row, ownKeyId)) this.#move(id, key, event)
  }

  #move(id: string, key: string, event: CircuitEvent, retryAfterMs = 0): void {
    const before = this.#circuit(id, key)
    const nowMs = this.#clock.monotonicMs()
    const after = move(before, event, this.#limitsOf(key), nowMs, retryAfterMs)
    if (after === before) return
    this.#keep(id, key, after)
    if (after.state === 'open') this.#elapsesAtMs = Math.min(this.#elapsesAtMs, after.untilMs)
    if (after.state !== before.state) this.#version += 1
  }

  #keep(id: string, key: string, circuit: Circuit): void {
    const circuits = this.#circuits.get(id) ?? new Map<string, Circuit>()
    this.#circuitsCount -= circuits.size
    if (circuit === closed) circuits.delete(key)
    else circuits.set(key, circuit)
    // Organizations can bring any number of bad keys, so the oldest circuit is dropped. Its credential is then simply
    // tried once more.
    if (this.#circuitsCount + circuits.size > circuitsMax) circuits.delete(oldestOf(circuits))
    this.#circuitsCount += circuits.size
    if (circuits.size === 0) this.#circuits.delete(id)
    else this.#circuits.set(id, circuits)
  }

  /** Adds a sample to the live figures. A model outside the catalog is never ranked and has no figures. */
  #sample(row: Row, path: Path, sample: Sample): void {
    if (!row.isListed) return
    const series = this.#series[path].get(row.key) ?? new LiveSeries()
    this.#series[path].set(row.key, series)
    if (series.add(sample, this.#clock.monotonicMs(), this.#clock.nowMs())) this.#version += 1
    this.#elapsesAtMs = Math.min(this.#elapsesAtMs, series.staleAtMs())
  }

  /** Updates everything that changes by time alone. Runs at the earliest time of such a change. */
  #elapse(nowMs: number): void {
    this.#elapsesAtMs = Number.POSITIVE_INFINITY
    for (const [id, circuits] of this.#circuits)
      for (const key of [...circuits.keys()]) {
        this.#move(id, key, 'elapsed')
        const after = this.#circuit(id, key)
        if (after.state === 'open') this.#elapsesAtMs = Math.min(this.#elapsesAtMs, after.untilMs)
      }
    for (const outage of this.#outages.values()) {
      const wasSuspect = outage.isSuspect
      outage.elapse(nowMs)
      if (outage.isSuspect !== wasSuspect) this.#version += 1
      this.#elapsesAtMs = Math.min(this.#elapsesAtMs, outage.elapsesAtMs)
    }
    for (const series of [this.#series.stream, this.#series.batch]) this.#forgetStale(series, nowMs)
  }

  #forgetStale(all: Map<string, LiveSeries>, nowMs: number): void {
    for (const [key, series] of all) {
      if (series.staleAtMs() > nowMs) {
        this.#elapsesAtMs = Math.min(this.#elapsesAtMs, series.staleAtMs())
      } else {
        all.delete(key)
        if (series.shown()) this.#version += 1
      }
    }
  }

  #blockedBy(id: string, key: string, reason: Blocked['reason']): Blocked | null {
    const circuit = this.#circuit(id, key)
    if (admits(circuit)) return null
    const retryAfterMs = circuit.state === 'open' ? circuit.untilMs - this.#clock.monotonicMs() : circuit.openMs
    return { reason, retryAfterMs: Math.max(0, retryAfterMs) }
  }

  #blockedByOutage(id: string): Blocked | null {
    const retryAfterMs = this.#outages.get(id)?.blockedMs(this.#clock.monotonicMs()) ?? null
    return retryAfterMs === null ? null : { reason: 'circuit_open', retryAfterMs }
  }

  #circuit(id: string, key: string): Circuit {
    return this.#circuits.get(id)?.get(key) ?? closed
  }

  #limitsOf(key: string): CircuitLimits {
    return key.startsWith(credentialPrefix) ? this.#limits.credential : this.#limits.model
  }
}

/** The attempt for which a permit was given. */
type Permitted = {
  row: Row
  path: Path
  ownKeyId: string | null
  organizationId: string
  /** The circuits for which the attempt is the probe. */
  probes: readonly string[]
  /** True if the attempt is the probe for the provider's outage. */
  probesProvider: boolean
}

/** A permit. It is an object and not closures, because a stream keeps its permit for hours. */
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

const none: readonly string[] = []

function circuitsOf(row: Row, ownKeyId: string | null): string[] {
  return [row.key, credentialOf(row, ownKeyId), allowanceOf(row, ownKeyId)]
}

function guiltyOf(row: Row, ownKeyId: string | null, blame: (typeof blames)[ErrorClass]): string | null {
  switch (blame) {
    case 'model':
      return row.key
    case 'credential':
      return credentialOf(row, ownKeyId)
    case 'allowance':
      return allowanceOf(row, ownKeyId)
    case 'nobody':
      return null
  }
}

/** Limits the circuits in memory. The operator's providers have far fewer. */
const circuitsMax = 20_000
const credentialPrefix = 'credential:'

function credentialOf({ provider }: Row, ownKeyId: string | null): string {
  return ownKeyId === null ? credentialPrefix + provider.id : `${credentialPrefix}${provider.id}:${ownKeyId}`
}

function allowanceOf({ key }: Row, ownKeyId: string | null): string {
  return ownKeyId === null ? `allowance:${key}` : `allowance:${key}:${ownKeyId}`
}

function oldestOf(circuits: ReadonlyMap<string, Circuit>): string {
  return circuits.keys().next().value ?? ''
}
