/**
 * Divides one process's concurrent attempts among endpoints and organizations. A free attempt is one that the process
 * could start now within its limit. If few attempts are free, each endpoint and each organization may have only few
 * attempts. So an idle endpoint still gets an attempt while other endpoints' attempts wait for slow servers. Network
 * switches share buffers in this way (dynamic thresholds, Choudhury and Hahne, 1998).
 */
import type { DueEndpoint, EndpointClaim } from './queue.ts'

export type InFlightLimits = {
  /** The limit for concurrent attempts in the process. */
  max: number
  /** The limit for concurrent attempts at one endpoint. */
  endpointMax: number
}

type Endpoint = { inFlight: number; isSlow: boolean }

/** The limit for deliveries in one claim. */
const claimedMax = 256
/**
 * Beyond this number, endpoints without an attempt are forgotten, and no more endpoints become ready until the next
 * poll.
 */
const endpointsMax = 10_000
/** An endpoint is slow if its last attempt took longer than this or got no HTTP response. */
const slowMs = 2_000
/** A slow endpoint may have this fraction of the usual number of concurrent attempts. */
const slowPart = 1 / 4
/** An endpoint's limit shrinks when less than this fraction of the process's attempts is free. */
const roomyPart = 1 / 2
/**
 * An organization may have at most this many attempts for each free attempt. So an organization alone gets two thirds
 * of all attempts.
 */
const organizationTimes = 2

export class InFlight {
  readonly #limits: InFlightLimits
  readonly #endpoints = new Map<string, Endpoint>()
  /** Counts running attempts by organization. */
  readonly #organizations = new Map<string, number>()
  /** Endpoints that may have due deliveries, with their organizations. The longest waiting endpoint comes first. */
  readonly #ready = new Map<string, string>()

  constructor(limits: InFlightLimits) {
    this.#limits = limits
  }

  /** Called when the endpoint may have due deliveries. */
  ready({ endpointId, organizationId }: DueEndpoint): void {
    if (this.#ready.size < endpointsMax) this.#ready.set(endpointId, organizationId)
  }

  /**
   * Chooses the endpoints for the next claim, each with a number of deliveries. `claimed` counts the deliveries in this
   * process. If the claim uses up an endpoint's number, or if a notification arrives meanwhile, the endpoint becomes
   * ready again.
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

  /**
   * Called when an attempt has ended. `isSilent` is true if the endpoint sent no HTTP response. Without `attempt`, the
   * endpoint stays slow or not slow as before.
   */
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
  // Each further attempt also reduces the free attempts. This is the largest number that stays within the
  // organization's limit.
  return Math.ceil((organizationTimes * free - inFlight) / (1 + organizationTimes))
}

const idle: Readonly<Endpoint> = { inFlight: 0, isSlow: false }
