/**
 * Holds a circuit for each model, for each credential, and for each credential's allowance (rate limit) at a model, and
 * an outage for each provider. One instance is shared by all organizations. Each organization with failures has a
 * second, separate instance.
 */
import type { Row } from '../catalog/catalog.ts'
import type { ErrorClass, ProviderError } from '../ports/provider-error.ts'
import { type AreSeveral, Breaker, type Probe } from './breaker.ts'
import type { Circuit, CircuitLimits } from './circuit.ts'
import { Outage } from './outage.ts'

export type HealthLimits = { model: CircuitLimits; credential: CircuitLimits }
export type CircuitCounts = { model: number; credential: number }
export type Blocked = { reason: 'circuit_open' | 'credential_cooling'; retryAfterMs: number }
/**
 * An attempt at a catalog row. `ownKeyId` names the organization's provider key for the attempt, if the organization
 * has a key.
 */
export type Tried = { row: Row; ownKeyId: string | null; organizationId: string }
/** The probes that an attempt has begun: for circuits, by circuit key, and for the provider's outage. */
export type Probes = { circuits: ReadonlyMap<string, Probe>; provider: Probe | null }

/**
 * A failure counts against the model, the credential, the credential's allowance for the model, or nothing. A failure
 * of a credential counts only against this credential: if an organization's key is bad, the operator's credential and
 * the keys of other organizations are still tried. `blameOf` has the exceptions.
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
export type Blame = (typeof blames)[ErrorClass]
export type Failed = { error: ProviderError; blame: Blame }

/** If a request used an organization's provider key, a failure of the model counts only for this key. */
export function blameOf(error: ProviderError, ownKeyId: string | null): Blame {
  const blame = error.isOurs ? 'nobody' : blames[error.errorClass]
  return blame === 'model' && ownKeyId !== null ? 'allowance' : blame
}

/** At most this many circuits are in memory. The operator's providers need far fewer circuits. */
const circuitsMax = 20_000

export class Circuits {
  readonly #limits: HealthLimits
  readonly #areSeveral: AreSeveral
  readonly #circuitsMax: number
  /** The breakers by provider, then by key. A provider without an entry is healthy, so one lookup is enough. */
  readonly #breakers = new Map<string, Map<string, Breaker>>()
  readonly #outages = new Map<string, Outage>()
  #count = 0
  #version = 0
  #elapsesAtMs = Number.POSITIVE_INFINITY

  constructor(limits: HealthLimits, areSeveral: AreSeveral, most = circuitsMax) {
    this.#limits = limits
    this.#areSeveral = areSeveral
    this.#circuitsMax = most
  }

  /**
   * Changes when the result of `blocked` may have changed. A change by time alone is counted only when `update` is
   * called.
   */
  get version(): number {
    return this.#version
  }

  /** The next time when the result of `blocked` changes without an attempt. */
  get elapsesAtMs(): number {
    return this.#elapsesAtMs
  }

  get isClear(): boolean {
    return this.#breakers.size === 0 && this.#outages.size === 0
  }

  /** Returns why no attempt may start now, or null. If `organizationId` is null, the answer is for any organization. */
  blocked(row: Row, ownKeyId: string | null, organizationId: string | null, nowMs: number): Blocked | null {
    const { id } = row.provider
    const [breakers, outage] = [this.#breakers.get(id), this.#outages.get(id)]
    if (!breakers && !outage) return null
    this.update(nowMs)
    const waitMs = (key: string) => breakers?.get(key)?.blockedMs(organizationId, nowMs) ?? null
    const coolingMs = waitMs(credentialOf(row, ownKeyId))
    if (coolingMs !== null) return { reason: 'credential_cooling', retryAfterMs: coolingMs }
    const openMs = waitMs(row.key) ?? waitMs(allowanceOf(row, ownKeyId)) ?? outage?.blockedMs(organizationId, nowMs)
    return openMs === null || openMs === undefined ? null : { reason: 'circuit_open', retryAfterMs: openMs }
  }

  /**
   * Begins an attempt. Call this only after all checks allowed the attempt. The attempt becomes the probe for all
   * half-open circuits concerned.
   */
  begin({ row, ownKeyId, organizationId }: Tried, nowMs: number): Probes {
    const { id } = row.provider
    const [breakers, outage] = [this.#breakers.get(id), this.#outages.get(id)]
    if (!breakers && !outage) return noProbes
    const circuits = new Map<string, Probe>()
    for (const key of circuitsOf(row, ownKeyId)) {
      const probe = breakers?.get(key)?.begin(organizationId, nowMs)
      if (probe) circuits.set(key, probe)
    }
    const provider = outage?.begin(organizationId, nowMs) ?? null
    if (circuits.size > 0 || provider !== null) this.#version += 1
    return { circuits, provider }
  }

  alive(tried: Tried, nowMs: number): void {
    this.#updateAll(tried, (breaker) => breaker.alive(nowMs))
    this.#updateOutage(tried.row.provider.id, (outage) => outage.alive(nowMs))
  }

  succeeded(tried: Tried, nowMs: number): void {
    this.#updateAll(tried, (breaker) => breaker.succeeded(nowMs))
    this.#updateOutage(tried.row.provider.id, (outage) => outage.succeeded(nowMs))
  }

  failed(tried: Tried, { circuits, provider }: Probes, { error, blame }: Failed, nowMs: number): void {
    const { row, ownKeyId, organizationId } = tried
    const { id } = row.provider
    const guilty = guiltyOf(row, ownKeyId, blame)
    const retryAfterMs = (error.retryAfterS ?? 0) * 1000
    if (guilty !== null)
      this.#update(id, guilty, this.#breaker(id, guilty), (breaker) =>
        breaker.failed(organizationId, circuits.get(guilty) ?? null, nowMs, retryAfterMs),
      )
    for (const [key, probe] of circuits)
      if (key !== guilty) this.#update(id, key, this.#known(id, key), (breaker) => breaker.abandoned(probe, nowMs))
    // If a model is not in the catalog, it may not exist at all, so its failures do not count against the provider.
    if (blame === 'model' && row.isListed && !this.#outages.has(id))
      this.#outages.set(id, new Outage(this.#limits.model, this.#areSeveral))
    if (row.isListed || provider !== null)
      this.#updateOutage(id, (outage) =>
        outage.failed(row.key, error, { organizationId, probe: provider, isBlamed: blame === 'model', nowMs }),
      )
  }

  /** Returns true if this kind of failure has occurred since the last success. */
  isFailing({ row, ownKeyId }: Tried, blame: Blame): boolean {
    const guilty = guiltyOf(row, ownKeyId, blame)
    return guilty !== null && this.#known(row.provider.id, guilty) !== undefined
  }

  /** Returns true if a failure of this organization counts for all organizations. */
  counts({ row, ownKeyId, organizationId }: Tried, blame: Blame): boolean {
    const guilty = guiltyOf(row, ownKeyId, blame)
    if (guilty === null) return false
    return this.#known(row.provider.id, guilty)?.counts(organizationId) ?? !this.#areSeveral()
  }

  /** Returns true if the provider has stopped answering. The answer is as of the last `update`. */
  suspects(id: string): boolean {
    return this.#outages.size > 0 && (this.#outages.get(id)?.isSuspect ?? false)
  }

  /**
   * Returns the provider's failing models if the provider is suspect. Otherwise returns the row's model if its circuit
   * is open.
   */
  failingModels({ provider: { id }, key }: Row): Iterable<string> {
    const outage = this.#outages.get(id)
    if (outage?.isSuspect) return outage.failedModels
    return this.#known(id, key)?.state === 'open' ? [key] : []
  }

  /**
   * Counts a provider's circuits in these states. `model` counts circuits of models, and also circuits for one
   * credential's rate limit at one model.
   */
  count(id: string, states: ReadonlySet<Circuit['state']>): CircuitCounts {
    const counts = { model: 0, credential: 0 }
    for (const [key, { state }] of this.#breakers.get(id) ?? [])
      if (states.has(state)) counts[key.startsWith(credentialPrefix) ? 'credential' : 'model'] += 1
    return counts
  }

  /** Applies all state changes that happen by time alone. */
  update(nowMs: number): void {
    if (nowMs < this.#elapsesAtMs) return
    this.#elapsesAtMs = Number.POSITIVE_INFINITY
    for (const breakers of this.#breakers.values())
      for (const breaker of breakers.values()) this.#elapse(breaker, nowMs)
    for (const outage of this.#outages.values()) {
      const wasSuspect = outage.isSuspect
      outage.elapse(nowMs)
      if (outage.isSuspect !== wasSuspect) this.#version += 1
      this.#elapsesAtMs = Math.min(this.#elapsesAtMs, outage.elapsesAtMs)
    }
  }

  #elapse(breaker: Breaker, nowMs: number): void {
    const before = breaker.state
    breaker.elapse(nowMs)
    if (breaker.state !== before) this.#version += 1
    this.#elapsesAtMs = Math.min(this.#elapsesAtMs, breaker.elapsesAtMs)
  }

  #updateAll({ row, ownKeyId }: Tried, change: (breaker: Breaker) => void): void {
    const { id } = row.provider
    // A healthy provider has no circuit to change.
    if (!this.#breakers.has(id)) return
    for (const key of circuitsOf(row, ownKeyId)) this.#update(id, key, this.#known(id, key), change)
  }

  #update(id: string, key: string, breaker: Breaker | undefined, change: (breaker: Breaker) => void): void {
    if (!breaker) return
    const before = breaker.state
    change(breaker)
    if (breaker.state !== before) this.#version += 1
    this.#elapsesAtMs = Math.min(this.#elapsesAtMs, breaker.elapsesAtMs)
    if (breaker.isIdle) this.#drop(id, key)
  }

  #updateOutage(id: string, change: (outage: Outage) => void): void {
    const outage = this.#outages.get(id)
    if (!outage) return
    const [state, models] = [outage.state, outage.failedModels.size]
    change(outage)
    if (outage.isOver) this.#outages.delete(id)
    this.#elapsesAtMs = Math.min(this.#elapsesAtMs, outage.elapsesAtMs)
    if (outage.state !== state || outage.failedModels.size !== models) this.#version += 1
  }

  #known(id: string, key: string): Breaker | undefined {
    return this.#breakers.get(id)?.get(key)
  }

  /** Returns the breaker for the key. Adds a breaker if the key has no breaker. */
  #breaker(id: string, key: string): Breaker {
    const known = this.#known(id, key)
    if (known) return known
    const breaker = new Breaker(this.#limitsOf(key), this.#areSeveral)
    const breakers = this.#breakers.get(id) ?? new Map<string, Breaker>()
    // Organizations can add any number of bad keys, so the oldest circuit is dropped at the limit. Its credential is
    // then tried once more.
    if (this.#count >= this.#circuitsMax) this.#drop(id, oldestOf(breakers))
    this.#breakers.set(id, breakers.set(key, breaker))
    this.#count += 1
    return breaker
  }

  #drop(id: string, key: string): void {
    const breakers = this.#breakers.get(id)
    if (!breakers?.delete(key)) return
    this.#count -= 1
    if (breakers.size === 0) this.#breakers.delete(id)
  }

  #limitsOf(key: string): CircuitLimits {
    return key.startsWith(credentialPrefix) ? this.#limits.credential : this.#limits.model
  }
}

export const noProbes: Probes = { circuits: new Map(), provider: null }

function circuitsOf(row: Row, ownKeyId: string | null): string[] {
  return [row.key, credentialOf(row, ownKeyId), allowanceOf(row, ownKeyId)]
}

function guiltyOf(row: Row, ownKeyId: string | null, blame: Blame): string | null {
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

const credentialPrefix = 'credential:'

function credentialOf({ provider }: Row, ownKeyId: string | null): string {
  return ownKeyId === null ? credentialPrefix + provider.id : `${credentialPrefix}${provider.id}:${ownKeyId}`
}

function allowanceOf({ key }: Row, ownKeyId: string | null): string {
  return ownKeyId === null ? `allowance:${key}` : `allowance:${key}:${ownKeyId}`
}

function oldestOf(breakers: ReadonlyMap<string, Breaker>): string {
  return breakers.keys().next().value ?? ''
}
