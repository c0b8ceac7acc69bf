/**
 * Digest authentication (RFC 8760, over RFC 7616): MD5 and SHA-256 with qop auth. Contains both roles: we challenge a
 * sender if its connection has a login, and we answer a trunk's challenges. A nonce contains its time and a signature,
 * so a challenge needs no memory. Only the nonce counters (`nc`) of correct logins are stored.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { SipConnection } from '../../domain/ports/sip-connections.ts'
import type { Clock } from '../../domain/ports/system.ts'
import type { Header } from './message.ts'
import { RecentMap } from './recent-map.ts'

export type Credentials = { username: string; password: string }

/** Returns the login for a trunk, or null if the trunk requires no login. */
export function credentialsOf(connection: SipConnection | null): Credentials | null {
  const { username = null, password = null } = connection?.outbound ?? {}
  return username === null || password === null ? null : { username, password }
}

/** The parameters in a challenge or in an Authorization header. */
type Parameters = ReadonlyMap<string, string>

const algorithms = { MD5: 'md5', 'SHA-256': 'sha256' } as const
type Algorithm = keyof typeof algorithms
const isAlgorithm = (name: string): name is Algorithm => Object.hasOwn(algorithms, name)

const realm = 'parley'
const nonceMs = 300_000
const countersMax = 4096

const hash = (algorithm: Algorithm, ...parts: string[]) =>
  createHash(algorithms[algorithm]).update(parts.join(':')).digest('hex')

export class Challenges {
  readonly #clock: Clock
  readonly #key = randomBytes(32)
  /** The highest counter used so far for each nonce. A replayed login repeats an old counter, so it is refused. */
  readonly #counters = new RecentMap<number>(countersMax)

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * Returns the headers for a challenge. The stronger algorithm is first, because a peer uses the first algorithm it
   * supports. `isStale` is true if the peer used an old or unknown nonce: it may then answer the new nonce without
   * asking its user for the password.
   */
  headers(source: string, isStale: boolean): Header[] {
    const stale = isStale ? ', stale=true' : ''
    const nonce = this.#nonce(this.#clock.nowMs(), source)
    return (['SHA-256', 'MD5'] as const).map(
      (algorithm): Header => [
        'www-authenticate',
        `Digest realm="${realm}", nonce="${nonce}", algorithm=${algorithm}, qop="auth"${stale}`,
      ],
    )
  }

  /**
   * Returns the user name in an Authorization header, before any check of the password. Returns null if this source
   * never received the nonce, or if the nonce is too old.
   */
  userOf(authorization: string, source: string): string | null {
    const answer = parametersOf(authorization)
    return this.#isOwn(answer?.get('nonce') ?? '', source) ? (answer?.get('username') ?? null) : null
  }

  /** Returns the request URI in an Authorization header. */
  uriOf(authorization: string): string {
    return parametersOf(authorization)?.get('uri') ?? ''
  }

  isRight(authorization: string, method: string, { username, password }: Credentials, source: string): boolean {
    const answer = parametersOf(authorization)
    const algorithm = answer?.get('algorithm')?.toUpperCase() ?? 'MD5'
    if (answer === null || !isAlgorithm(algorithm)) return false
    const [nonce = '', uri = '', nc = '', cnonce = ''] = ['nonce', 'uri', 'nc', 'cnonce'].map((name) =>
      answer.get(name),
    )
    if (answer.get('realm') !== realm || answer.get('username') !== username) return false
    if (answer.get('qop') !== 'auth' || !/^[0-9a-f]{8}$/i.test(nc) || cnonce === '') return false
    if (!this.#isOwn(nonce, source)) return false
    const secret = hash(algorithm, username, realm, password)
    const expected = hash(algorithm, secret, nonce, nc, cnonce, 'auth', hash(algorithm, method, uri))
    return isEqual(expected, answer.get('response') ?? '') && this.#count(nonce, Number.parseInt(nc, 16))
  }

  #nonce(atMs: number, source: string): string {
    const time = atMs.toString(36)
    return `${time}.${createHmac('sha256', this.#key).update(`${time} ${source}`).digest('base64url').slice(0, 22)}`
  }

  #isOwn(nonce: string, source: string): boolean {
    const atMs = Number.parseInt(nonce.split('.')[0] ?? '', 36)
    const ageMs = this.#clock.nowMs() - atMs
    return ageMs >= 0 && ageMs <= nonceMs && isEqual(this.#nonce(atMs, source), nonce)
  }

  #count(nonce: string, counter: number): boolean {
    if (counter <= (this.#counters.get(nonce) ?? 0)) return false
    this.#counters.set(nonce, counter)
    return true
  }
}

/** Answers the first supported challenge. Returns null if no challenge is supported. */
export function answerTo(
  challenges: readonly string[],
  { username, password }: Credentials,
  { method, uri }: { method: string; uri: string },
): string | null {
  for (const text of challenges) {
    const challenge = parametersOf(text)
    const algorithm = challenge?.get('algorithm')?.toUpperCase() ?? 'MD5'
    const [nonce, theirRealm] = [challenge?.get('nonce'), challenge?.get('realm')]
    if (!isAlgorithm(algorithm) || nonce === undefined || theirRealm === undefined) continue
    const qops = challenge
      ?.get('qop')
      ?.split(',')
      .map((qop) => qop.trim())
    if (qops !== undefined && !qops.includes('auth')) continue
    const secret = hash(algorithm, username, theirRealm, password)
    const request = hash(algorithm, method, uri)
    const [nc, cnonce] = ['00000001', randomBytes(8).toString('hex')]
    const response =
      qops === undefined
        ? hash(algorithm, secret, nonce, request)
        : hash(algorithm, secret, nonce, nc, cnonce, 'auth', request)
    const opaque = challenge?.get('opaque')
    const parts = [
      ...Object.entries({ username, realm: theirRealm, nonce, uri, response }).map(
        ([name, value]) => `${name}=${quoted(value)}`,
      ),
      `algorithm=${algorithm}`,
      ...(qops === undefined ? [] : ['qop=auth', `nc=${nc}`, `cnonce="${cnonce}"`]),
      ...(opaque === undefined ? [] : [`opaque=${quoted(opaque)}`]),
    ]
    return `Digest ${parts.join(', ')}`
  }
  return null
}

const quoted = (text: string) => `"${text.replace(/["\\]/g, '\\$&')}"`

/** Returns the header's parameters, or null if the scheme is not Digest. */
function parametersOf(text: string): Parameters | null {
  const [, list] = /^digest[ \t]+(.*)$/i.exec(text) ?? []
  if (list === undefined || list.length > 4096) return null
  const pairs = list.matchAll(/\b([a-z]+)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^\s",]+))/gi)
  return new Map(
    [...pairs].map(([, name = '', inQuotes, plain = '']) => [
      name.toLowerCase(),
      inQuotes?.replace(/\\(.)/g, '$1') ?? plain,
    ]),
  )
}

function isEqual(expected: string, given: string): boolean {
  return expected.length === given.length && timingSafeEqual(Buffer.from(expected), Buffer.from(given))
}
