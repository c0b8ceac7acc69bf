/**
 * The legs whose audio this process expects. A token names the process, so that any other process that gets the socket
 * passes it on, and holds a secret that only this process knows.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { ExpectedLeg, LegMedia } from '../../domain/ports/leg-media.ts'
import type { LineName, MediaEndpoint } from '../../domain/ports/phone-line.ts'

/** A leg whose address was opened with its token. */
export type OpenedLeg = {
  leg: ExpectedLeg
  /** The sample rate that the command asked for. */
  askedRateHz: MediaEndpoint['sampleRateHz']
  /** False: another socket has spent the address, or the leg is over. */
  take(): boolean
}

export type ExpectedLegsDeps = {
  /** The name of this process. */
  ownerId: string
  /** The address of this server for a line: ws or wss, without a slash at its end. */
  addressFor: (line: LineName) => string
  /** The sample rate of the audio on the line, where the conversation has no lower one. */
  rateHz: MediaEndpoint['sampleRateHz']
}

type Expected = { leg: ExpectedLeg; secret: Buffer; askedRateHz: MediaEndpoint['sampleRateHz'] }

/** The name of a process is a file's name where sockets are passed on, so nothing of a path may be in it. */
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
    // More than the conversation has would be made up.
    const sampleRateHz = leg.sampleRateHz === 8000 ? 8000 : rateHz
    const secret = randomBytes(secretBytes)
    this.#expected.set(leg.legId, { leg, secret, askedRateHz: sampleRateHz })
    const token = `${ownerId}.${secret.toString('base64url')}`
    return { url: `${addressFor(leg.line)}/carrier/media/${leg.legId}`, token, sampleRateHz }
  }

  forget(legId: string): void {
    this.#expected.delete(legId)
  }

  /** Null: the token is not that of an expected leg. A name: that process may expect it. */
  find(legId: string, token: string): OpenedLeg | { ownerId: string } | null {
    const [, ownerId = '', secret = ''] = tokenForm.exec(token) ?? []
    if (ownerId === '') return null
    if (ownerId !== this.#deps.ownerId) return { ownerId }
    const expected = this.#expected.get(legId)
    if (expected === undefined || !timingSafeEqual(expected.secret, Buffer.from(secret, 'base64url'))) return null
    const { leg, askedRateHz } = expected
    const take = () => this.#expected.get(legId) === expected && this.#expected.delete(legId)
    return { leg, askedRateHz, take }
  }
}
