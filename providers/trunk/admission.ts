/**
 * Finds the SIP connection for a request. If a trunk accepted our registration and calls the registered user name, this
 * name decides. Otherwise the source address decides, and after it a login. If another connection with a login imported
 * the dialled number first, the source address alone is not enough. A source without a connection gets at most one
 * short response, never longer than the request. Otherwise a forged source address could be used for an amplification
 * attack.
 */

import { randomBytes } from 'node:crypto'
import type { SipConnection, SipConnections } from '../../domain/ports/sip-connections.ts'
import type { Clock } from '../../domain/ports/system.ts'
import type { Capacity } from '../../runtime/shares/capacity.ts'
import type { Owners } from '../../runtime/shares/owners.ts'
import { userOf } from './address.ts'
import { dialedOf, registeredUser } from './dialed.ts'
import { Challenges } from './digest.ts'
import { dividedPlaces } from './divided-places.ts'
import type { TrunkLimits } from './limits.ts'
import { valueOf } from './message.ts'
import { RecentMap } from './recent-map.ts'
import type { ServerTransaction } from './server-transaction.ts'
import { WrongLogins } from './wrong-logins.ts'

/** If no SIP connection was found for a source IP address, the address is not looked up again for this long. */
const unknownMs = 1_000
/** The maximum number of remembered IP addresses, separately for addresses with and without a SIP connection. */
const addressesMax = 4096
/** The owner for which database lookups for unknown IP addresses count, in place of an organization. */
const strangers = 'strangers'
const decoyPassword = randomBytes(16).toString('hex')

export type AdmissionDeps = {
  connections: SipConnections
  clock: Clock
  owners: Owners
  limits: Pick<TrunkLimits, 'lookupsMax' | 'wrongLoginsPerMinuteMax'>
}

export class Admission {
  readonly #connections: SipConnections
  readonly #clock: Clock
  readonly #owners: Owners
  readonly #lookups: Capacity
  readonly #challenges: Challenges
  readonly #wrongLogins: WrongLogins
  /** Maps an address without a connection to the time when the address may be looked up again. */
  readonly #unknown = new RecentMap<number>(addressesMax)
  /** Maps an address to the organization from its last lookup. */
  readonly #known = new RecentMap<string>(addressesMax)
  /** Returns the connections registered at a trunk address, if they accept incoming calls. */
  readonly #registered: (address: string) => readonly SipConnection[]

  constructor(
    { connections, clock, owners, limits }: AdmissionDeps,
    registered: (address: string) => readonly SipConnection[],
  ) {
    this.#connections = connections
    this.#registered = registered
    this.#clock = clock
    this.#owners = owners
    // All unknown IP addresses count as one owner, so one share of the limit on lookups stays free for them. More
    // lookups at once would only queue at the database and delay other organizations' lookups. So an organization may
    // use more than its share only if it is alone on the server, and never the share for unknown addresses.
    this.#lookups = dividedPlaces(limits.lookupsMax, (owner) => owner !== strangers && !owners.areSeveral)
    this.#challenges = new Challenges(clock)
    this.#wrongLogins = new WrongLogins(clock, limits.wrongLoginsPerMinuteMax)
  }

  /** True if a connection was recently found for the address, or if a connection is registered at this address. */
  isKnown(address: string): boolean {
    return this.#known.get(address) !== undefined || this.#registered(address).length > 0
  }

  /**
   * Finds the request's SIP connection and calls `admitted` with it, or refuses or drops the request. The request
   * counts as a lookup until `admitted` resolves, because storing the call uses the database too.
   */
  async admit(
    transaction: ServerTransaction,
    size: number,
    admitted: (connection: SipConnection) => Promise<void>,
  ): Promise<void> {
    const { address } = transaction.source
    const registered = this.#registered(address)
    // The registered user name identifies the connection. The trunk's address alone would not be enough: other
    // organizations may have imported the same number, or an address range that includes this trunk.
    const named = registered.find(({ id }) => registeredUser(id) === userOf(transaction.request.uri))
    const lookup = this.#lookups.take(named?.organizationId ?? this.#known.get(address) ?? strangers)
    if (lookup === null) return transaction.postpone()
    try {
      const connection = named ?? (await this.#connectionOf(transaction, size, registered))
      if (connection === null) return
      this.#known.set(address, connection.organizationId)
      this.#owners.see(connection.organizationId)
      await admitted(connection)
    } finally {
      lookup.end()
    }
  }

  /** Returns the request's SIP connection, or null if the request was refused or dropped. */
  async #connectionOf(
    transaction: ServerTransaction,
    size: number,
    registered: readonly SipConnection[],
  ): Promise<SipConnection | null> {
    const { request, source } = transaction
    const dialed = dialedOf(request)
    const connection = await this.#ofAddress(source.address, dialed, registered)
    const isCall = request.method === 'INVITE'
    if (connection !== undefined && !(isCall && (await this.#connections.wantsLogin(dialed, connection.id))))
      return connection
    if (connection === undefined) this.#noteUnknown(source.address)
    return isCall ? await this.#byLogin(transaction, size, dialed) : this.#drop(transaction)
  }

  /**
   * Returns the connection for the source address. Returns undefined if no connection accepts calls from the address.
   */
  async #ofAddress(
    address: string,
    dialed: string,
    registered: readonly SipConnection[],
  ): Promise<SipConnection | undefined> {
    if (registered.length === 0 && this.#isUnknown(address)) return undefined
    const ids = registered.map(({ id }) => id)
    return (await this.#connections.ofAddress(address, dialed, ids))[0]
  }

  async #byLogin(transaction: ServerTransaction, size: number, dialed: string): Promise<SipConnection | null> {
    const { request, source } = transaction
    const authorization = valueOf(request.headers, 'authorization')
    const username = authorization === null ? null : this.#challenges.userOf(authorization, source.address)
    if (authorization === null || username === null) {
      // If the nonce is old or forged, the user name is not looked up in the database.
      const headers = this.#challenges.headers(source.address, authorization !== null)
      transaction.respondOnce(401, headers, size)
      return null
    }
    // The login's URI must match the dialled number, so a captured login cannot call another number (RFC 7616, section
    // 3.4.6). The host is not compared, because a proxy may have changed it (RFC 3261, section 22.4).
    if (userOf(this.#challenges.uriOf(authorization)) !== (userOf(request.uri) ?? '')) {
      transaction.respondOnce(400, [], size)
      return null
    }
    const areTooMany = () => this.#wrongLogins.areTooMany(username, source.address)
    if (areTooMany()) return this.#drop(transaction)
    const connection = await this.#ofLogin(authorization, { username, dialed, address: source.address })
    // Other logins were checked meanwhile. If too many logins were wrong, even a correct password is no longer
    // accepted.
    if (areTooMany()) return this.#drop(transaction)
    if (connection !== null) return connection
    this.#wrongLogins.note(username, source.address)
    transaction.respondOnce(403, [], size)
    return null
  }

  /** Returns the connection with the login used in the request, or null. */
  async #ofLogin(
    authorization: string,
    { username, dialed, address }: { username: string; dialed: string; address: string },
  ): Promise<SipConnection | null> {
    const isRight = (password: string | null) =>
      password !== null && this.#challenges.isRight(authorization, 'INVITE', { username, password }, address)
    const connections = await this.#connections.ofUser(username, dialed)
    // Checking an unknown user takes the same time as checking a wrong password, so the time does not reveal existing
    // users.
    if (connections.length === 0) isRight(decoyPassword)
    return connections.find(({ inbound }) => isRight(inbound?.password ?? null)) ?? null
  }

  #drop(transaction: ServerTransaction): null {
    transaction.end()
    return null
  }

  #isUnknown(address: string): boolean {
    return (this.#unknown.get(address) ?? 0) > this.#clock.monotonicMs()
  }

  #noteUnknown(address: string): void {
    if (!this.#isUnknown(address)) this.#unknown.set(address, this.#clock.monotonicMs() + unknownMs)
  }
}
