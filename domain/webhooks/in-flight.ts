/**
 * Shares one process's attempts among endpoints and organizations. Each holder's limit shrinks as free room shrinks. So
 * an idle endpoint still finds room while others wait for slow servers. (Dynamic thresholds, as switches share a
 * buffer: Choudhury and Hahne, 1998.)
 */
import type { DueEndpoint, EndpointClaim } from './queue.ts'

export type InFlightLimits = {
  /** Maximum attempts in the process. */
  max: number
  /** Maximum attempts at one endpoint. */
  endpointMax: number
}

type Endpoint = { inFlight: number; isSlow: boolean }

/** Maximum deliveries in one claim. */
const claimedMax = 256
/** Beyond this, endpoints without an attempt are forgotten and no more become ready. The next poll names them again. */
const endpointsMax = 10_000
/** An endpoint is slow if its last attempt took longer or got no answer. */
const slowMs = 2_000
/** A slow endpoint may have this share of the usual attempts. */
const slowPart = 1 / 4
/** Endpoint limits shrink when less than this share of the room is free. */
const roomyPart = 1 / 2
/** An organization holds at most this many times the room it leaves free. If it is alone, it can hold two thirds. */
const organizationTimes = 2

export class InFlight {
  readonly #limits: InFlightLimits
  readonly #endpoints = new Map<string, Endpoint>()
  /** Running attempts, by organization. */
  readonly #organizations = new Map<string, number>()
  /** Endpoints that may have due deliveries, with their organizations. The longest waiting endpoint is first. */
  readonly #ready = new Map<string, string>()

  constructor(limits: InFlightLimits) {
    this.#limits = limits
  }

  /** The endpoint may have due deliveries. */
  ready({ endpointId, organizationId }: DueEndpoint): void {
    if (this.#ready.size < endpointsMax) this.#ready.set(endpointId, organizationId)
  }

  /**
   * Chooses deliveries to claim next. `claimed` counts the deliveries in this process. An endpoint becomes ready again if the
   * claim filled its share, or if a notification comes meanwhile.
   */
  take(claimed: number): (DueEndpoint & EndpointClaim)[] {
    let free = this.#limits.max - claimed
    let room = Math.min(free, claimedMax)
    const waiting = [...this.#ready].filter(
      ([endpointId, organizationId]) =>
        this.#leftToEndpoint(endpointId, free) > 0 && leftToOrganization(this.#countOf(organizationId), free) > 0,
    )
    const share = Math.max(1, Math.floor(room / waiting.length))
    const claims: (DueEndpoint & EndpointClaim)[] = []
    const counts = new Map<string, number>()
    for (const [endpointId, organizationId] of waiting) {
      const ofOrganization = counts.get(organizationId) ?? this.#countOf(organizationId)
      const left = Math.min(this.#leftToEndpoint(endpointId, free), leftToOrganization(ofOrganization, free))
      const max = Math.min(left, share, room)
      if (max <= 0) continue
      room -= max
      free -= max
      counts.set(organizationId, ofOrganization + max)
      this.#ready.delete(endpointId)
      claims.push({ endpointId, organizationId, max })
    }
    return claims
  }

  begin({ endpointId, organizationId }: DueEndpoint): void {
    this.#of(endpointId).inFlight++
    this.#organizations.set(organizationId, this.#countOf(organizationId) + 1)
  }

  /** If `attempt` is absent, `isSlow` stays. `isSilent`: the endpoint sent no answer. */
  end({ endpointId, organizationId }: DueEndpoint, attempt?: { durationMs: number; isSilent: boolean }): void {
    const endpoint = this.#of(endpointId)
    endpoint.inFlight--
    if (attempt) endpoint.isSlow = attempt.isSilent || attempt.durationMs > slowMs
    const left = this.#countOf(organizationId) - 1
    if (left > 0) this.#organizations.set(organizationId, left)
    else this.#organizations.delete(organizationId)
  }

  #leftToEndpoint(endpointId: string, free: number): number {
    const { inFlight, isSlow } = this.#endpoints.get(endpointId) ?? idle
    const { max, endpointMax } = this.#limits
    const most = endpointMax * (isSlow ? slowPart : 1)
    return Math.ceil(most * Math.min(1, free / max / roomyPart)) - inFlight
  }

  #countOf(organizationId: string): number {
    return this.#organizations.get(organizationId) ?? 0
  }

  #of(endpointId: string): Endpoint {
    const existing = this.#endpoints.get(endpointId)
    if (existing) return existing
    const made = { ...idle }
    this.#endpoints.set(endpointId, made)
    if (this.#endpoints.size > endpointsMax) this.#forget()
    return made
  }

  #forget(): void {
    for (const [endpointId, { inFlight }] of this.#endpoints) if (inFlight === 0) this.#endpoints.delete(endpointId)
  }
}

function leftToOrganization(inFlight: number, free: number): number {
  // Each delivery taken also reduces the free room. This is the largest number that stays within the organization's
  // limit.
  return Math.ceil((organizationTimes * free - inFlight) / (1 + organizationTimes))
}

const idle: Readonly<Endpoint> = { inFlight: 0, isSlow: false }
