/**
 * The attempts of one process, shared out among endpoints and organizations. The more of the room is taken, the less may
 * one of them hold: so those that hold nothing find room, however many others wait for slow servers. (Dynamic thresholds,
 * as switches share a buffer: Choudhury and Hahne, 1998.)
 */
import type { DueEndpoint, Wanted } from './queue.ts'

export type InFlightLimits = {
  /** Attempts of the process. */
  max: number
  /** Attempts at one endpoint. */
  endpointMax: number
}

type Endpoint = { inFlight: number; isSlow: boolean }

/** Deliveries that are claimed at once. */
const claimedMax = 256
/** Endpoints without an attempt are forgotten beyond this, and no more are ready: the next poll names them again. */
const endpointsMax = 10_000
/** An endpoint is slow after an attempt that took longer or got no answer. */
const slowMs = 2_000
/** An endpoint that is slow may have this part of the attempts of another one. */
const slowPart = 1 / 4
/** An endpoint may have all of its attempts until less than this part of the room is free. */
const roomyPart = 1 / 2
/** An organization holds at most this many times the room that it leaves free: alone two thirds of all. */
const organizationTimes = 2

export class InFlight {
  readonly #limits: InFlightLimits
  readonly #endpoints = new Map<string, Endpoint>()
  /** Attempts, by organization. */
  readonly #organizations = new Map<string, number>()
  /** Endpoints that may have deliveries which are due, with their organizations. The one that has waited longest is first. */
  readonly #ready = new Map<string, string>()

  constructor(limits: InFlightLimits) {
    this.#limits = limits
  }

  /** The endpoint may have deliveries that are due. */
  ready({ endpointId, organizationId }: DueEndpoint): void {
    if (this.#ready.size < endpointsMax) this.#ready.set(endpointId, organizationId)
  }

  /**
   * Says which deliveries to claim next, with this many held already. An endpoint is ready again when the claim has found all
   * that was wanted, or a notification comes meanwhile.
   */
  take(held: number): (DueEndpoint & Wanted)[] {
    let free = this.#limits.max - held
    let room = Math.min(free, claimedMax)
    const waiting = [...this.#ready].filter(
      ([endpointId, organizationId]) =>
        this.#leftToEndpoint(endpointId, free) > 0 && leftToOrganization(this.#heldBy(organizationId), free) > 0,
    )
    const share = Math.max(1, Math.floor(room / waiting.length))
    const wanted: (DueEndpoint & Wanted)[] = []
    const heldBy = new Map<string, number>()
    for (const [endpointId, organizationId] of waiting) {
      const ofOrganization = heldBy.get(organizationId) ?? this.#heldBy(organizationId)
      const left = Math.min(this.#leftToEndpoint(endpointId, free), leftToOrganization(ofOrganization, free))
      const max = Math.min(left, share, room)
      if (max <= 0) continue
      room -= max
      free -= max
      heldBy.set(organizationId, ofOrganization + max)
      this.#ready.delete(endpointId)
      wanted.push({ endpointId, organizationId, max })
    }
    return wanted
  }

  begin({ endpointId, organizationId }: DueEndpoint): void {
    this.#of(endpointId).inFlight++
    this.#organizations.set(organizationId, this.#heldBy(organizationId) + 1)
  }

  /** Without the time of an attempt nothing is learned about the endpoint. `isSilent`: it waited for an answer in vain. */
  end({ endpointId, organizationId }: DueEndpoint, attempt?: { durationMs: number; isSilent: boolean }): void {
    const endpoint = this.#of(endpointId)
    endpoint.inFlight--
    if (attempt) endpoint.isSlow = attempt.isSilent || attempt.durationMs > slowMs
    const left = this.#heldBy(organizationId) - 1
    if (left > 0) this.#organizations.set(organizationId, left)
    else this.#organizations.delete(organizationId)
  }

  #leftToEndpoint(endpointId: string, free: number): number {
    const { inFlight, isSlow } = this.#endpoints.get(endpointId) ?? idle
    const { max, endpointMax } = this.#limits
    const most = endpointMax * (isSlow ? slowPart : 1)
    return Math.ceil(most * Math.min(1, free / max / roomyPart)) - inFlight
  }

  #heldBy(organizationId: string): number {
    return this.#organizations.get(organizationId) ?? 0
  }

  #of(endpointId: string): Endpoint {
    const known = this.#endpoints.get(endpointId)
    if (known) return known
    const made = { ...idle }
    this.#endpoints.set(endpointId, made)
    if (this.#endpoints.size > endpointsMax) this.#forget()
    return made
  }

  #forget(): void {
    for (const [endpointId, { inFlight }] of this.#endpoints) if (inFlight === 0) this.#endpoints.delete(endpointId)
  }
}

function leftToOrganization(held: number, free: number): number {
  // Each one that it takes is free no longer, so this is the most that keeps it within its bound.
  return Math.ceil((organizationTimes * free - held) / (1 + organizationTimes))
}

const idle: Readonly<Endpoint> = { inFlight: 0, isSlow: false }
