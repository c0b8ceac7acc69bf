/**
 * The share of each endpoint in the attempts of one process. Every endpoint with deliveries that are due gets a part of
 * the room, and at most `endpointMax`. One that does not answer gets a quarter of that, so that many dead endpoints do not
 * take all of the room.
 */
import type { Wanted } from './queue.ts'

export type InFlightLimits = {
  /** Attempts of the process. */
  max: number
  /** Attempts at one endpoint. */
  endpointMax: number
}

type Endpoint = { inFlight: number; isSilent: boolean }

/** Deliveries that are claimed at once. */
const claimedMax = 256
/** Endpoints without an attempt are forgotten beyond this. */
const endpointsMax = 10_000

export class InFlight {
  readonly #limits: InFlightLimits
  readonly #endpoints = new Map<string, Endpoint>()
  /** Endpoints that may have deliveries which are due. The one that has waited longest is first. */
  readonly #ready = new Set<string>()

  constructor(limits: InFlightLimits) {
    this.#limits = limits
  }

  /** The endpoint may have deliveries that are due. */
  ready(endpointId: string): void {
    this.#ready.add(endpointId)
  }

  /**
   * Says which deliveries to claim next, with this many held already. An endpoint is ready again when the claim has found all
   * that was wanted, or a notification comes meanwhile.
   */
  take(held: number): Wanted[] {
    let room = Math.min(this.#limits.max - held, claimedMax)
    if (room <= 0) return []
    const waiting = [...this.#ready].filter((endpointId) => this.#free(endpointId) > 0)
    const share = Math.max(1, Math.floor(room / waiting.length))
    const wanted: Wanted[] = []
    for (const endpointId of waiting) {
      if (room <= 0) break
      const max = Math.min(this.#free(endpointId), share, room)
      room -= max
      this.#ready.delete(endpointId)
      wanted.push({ endpointId, max })
    }
    return wanted
  }

  begin(endpointId: string): void {
    this.#of(endpointId).inFlight++
  }

  /** `isSilent`: the attempt waited for an answer in vain. Undefined: the attempt says nothing. */
  end(endpointId: string, isSilent?: boolean): void {
    const endpoint = this.#of(endpointId)
    endpoint.inFlight--
    endpoint.isSilent = isSilent ?? endpoint.isSilent
  }

  #free(endpointId: string): number {
    const { inFlight, isSilent } = this.#endpoints.get(endpointId) ?? idle
    const { endpointMax } = this.#limits
    return (isSilent ? Math.ceil(endpointMax / 4) : endpointMax) - inFlight
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

const idle: Readonly<Endpoint> = { inFlight: 0, isSilent: false }
