/**
 * The legs whose audio this process expects. A leg's token contains this process's name. If another process receives
 * the socket, it passes the socket on to this process. The token also holds a secret known only to this process.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { ExpectedLeg, LegMedia } from '../../domain/ports/leg-media.ts'
import type { LineName, MediaEndpoint } from '../../domain/ports/phone-line.ts'

/** A leg whose WebSocket URL a carrier has opened with the right token. */
export type OpenedLeg = {
  leg: ExpectedLeg
  /** The sample rate in our request to the carrier. */
  requestedRateHz: MediaEndpoint['sampleRateHz']
  /**
   * Claims the leg for a socket, because a leg's URL works once. Returns false if another socket has claimed the leg,
   * or if the leg is over.
   */
  take(): boolean
}

export type ExpectedLegsDeps = {
  ownerId: string
  /** Returns this server's WebSocket base URL for a line (a carrier or the simulator), without a slash at its end. */
  addressFor: (line: LineName) => string
  /** The line's sample rate. If the conversation has a lower rate, the lower rate is used. */
  rateHz: MediaEndpoint['sampleRateHz']
}

type Expected = { leg: ExpectedLeg; secret: string; requestedRateHz: MediaEndpoint['sampleRateHz'] }

/** When sockets are passed on, the process name is used as a file name. So it must not contain path characters. */
const tokenForm = /^([\w-]{1,64})\.([\w-]{32})$/
const secretBytes = 24

export class ExpectedLegs implements LegMedia {
  readonly #deps: ExpectedLegsDeps
  readonly #expected = new Map<string, Expected>()

  constructor(deps: ExpectedLegsDeps) {
    this.#deps = deps
  }

  expect(leg: ExpectedLeg): MediaEndpoint {
    const { ownerId, addressFor, rateHz } = this.#deps
    // A higher rate than the conversation's would not improve the audio.
    const sampleRateHz = leg.sampleRateHz === 8000 ? 8000 : rateHz
    const secret = randomBytes(secretBytes).toString('base64url')
    this.#expected.set(leg.legId, { leg, secret, requestedRateHz: sampleRateHz })
    const token = `${ownerId}.${secret}`
    return { url: `${addressFor(leg.line)}/carrier/media/${leg.legId}`, token, sampleRateHz }
  }

  forget(legId: string): void {
    this.#expected.delete(legId)
  }

  /**
   * Finds a leg by its token. Returns `ownerId` if another process made the token and may expect the leg, and null if
   * no leg is expected.
   */
  find(legId: string, token: string): OpenedLeg | { ownerId: string } | null {
    const [, ownerId = '', secret = ''] = tokenForm.exec(token) ?? []
    if (ownerId === '') return null
    if (ownerId !== this.#deps.ownerId) return { ownerId }
    const expected = this.#expected.get(legId)
    // The token's form fixes its length, so both buffers have the same length, as timingSafeEqual requires.
    if (expected === undefined || !timingSafeEqual(Buffer.from(expected.secret), Buffer.from(secret))) return null
    const { leg, requestedRateHz } = expected
    const take = () => this.#expected.get(legId) === expected && this.#expected.delete(legId)
    return { leg, requestedRateHz, take }
  }
}
