/**
 * Finds the SIP connection for a request. A trunk with our registration may call the user name from that registration:
 * this name then decides. Otherwise the source address decides, and after it a login. If another connection with a
 * login imported the dialled number first, the source address alone is not enough. A source without a connection gets
 * at most one short answer. The answer is never longer than the request, so that a forged source address cannot turn us
 * into a flood against somebody else.
 */
import { randomBytes } from 'node:crypto'
import type { SipConnection, SipConnections } from '../../domain/ports/sip-connections.ts'
import type { Clock } from '../../domain/ports/system.ts'
import { Capacity } from '../../runtime/shares/capacity.ts'
import { Owners } from '../../runtime/shares/owners.ts'
import { userOf } from './address.ts'
import { dialedOf, registeredUser } from './dialed.ts'
import { Challenges } from './digest.ts'
import type { TrunkLimits } from './limits.ts'
import { valueOf } from './message.ts'
import { RecentMap } from './recent-map.ts'
import type { ServerTransaction } from './server-transaction.ts'
import { WrongLogins } from './wrong-logins.ts'

/** If no connection was found for a source address, it is not looked up again for this long. */
const unknownMs = 1_000
/** How many addresses without a connection are remembered, and how many with one. */
const addressesMax = 4096
/**
 * The share of the lookups for each organization, and for all unknown addresses together. More lookups at once would
 * only wait for the store, and the lookups of others behind them. So only an organization that is alone on the server
 * borrows, up to the share of unknown addresses.
 */
const part = 1 / 8
/** The owner of lookups for unknown addresses. */
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
  /** Until when an address counts as unknown. */
  readonly #unknown = new RecentMap<number>(addressesMax)
  /** The organization that was last found for an address. */
  readonly #known = new RecentMap<string>(addressesMax)
  /** Returns the connections with a registration at an address, if they take incoming calls. */
  readonly #registered: (address: string) => readonly SipConnection[]

  constructor(
    { connections, clock, owners, limits }: AdmissionDeps,
    registered: (address: string) => readonly SipConnection[],
  ) {
    this.#connections = connections
    this.#registered = registered
    this.#clock = clock
    this.#owners = owners
    const lends = (owner: string) => owner !== strangers && !owners.areSeveral
    // The strangers are one owner, so a share stays free for them.
    this.#lookups = new Capacity({ max: limits.lookupsMax, part, lends }, new Owners(true))
    this.#challenges = new Challenges(clock)
    this.#wrongLogins = new WrongLogins(clock, limits.wrongLoginsPerMinuteMax)
  }

  /** True if a connection was recently found for the address, or has a registration there. */
  isKnown(address: string): boolean {
    return this.#known.get(address) !== undefined || this.#registered(address).length > 0
  }

  /**
   * Calls `admitted` with the request's connection, or answers or drops the request. A call counts as a lookup until
   * `admitted` resolves, because storing the call needs the store too.
   */
  async admit(
    transaction: ServerTransaction,
    size: number,
    admitted: (connection: SipConnection) => Promise<void>,
  ): Promise<void> {
    const { address } = transaction.source
    const registered = this.#registered(address)
    // The trunk itself names the connection. Its address alone would not be enough: other organizations may have
    // imported the number too, or an address range with this trunk in it.
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

  /** Returns the request's connection, or null if the request was answered or dropped. */
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

  /** Returns undefined if no connection takes calls from the address. */
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
      // If the nonce is old or forged, the store is not asked for the user name.
      const headers = this.#challenges.headers(source.address, authorization !== null)
      transaction.respondOnce(401, headers, size)
      return null
    }
    // A login for one number must not call another number (RFC 7616, section 3.4.6). The host is not compared, because
    // a proxy may have changed it (RFC 3261, section 22.4).
    if (userOf(this.#challenges.uriOf(authorization)) !== (userOf(request.uri) ?? '')) {
      transaction.respondOnce(400, [], size)
      return null
    }
    const areTooMany = () => this.#wrongLogins.areTooMany(username, source.address)
    if (areTooMany()) return this.#drop(transaction)
    const connection = await this.#ofLogin(authorization, { username, dialed, address: source.address })
    // Other logins were checked meanwhile. If too many of them were wrong, even a right guess counts no more.
    if (areTooMany()) return this.#drop(transaction)
    if (connection !== null) return connection
    this.#wrongLogins.note(username, source.address)
    transaction.respondOnce(403, [], size)
    return null
  }

  /** Returns the connection whose login the answer has, or null. */
  async #ofLogin(
    authorization: string,
    { username, dialed, address }: { username: string; dialed: string; address: string },
  ): Promise<SipConnection | null> {
    const isRight = (password: string | null) =>
      password !== null && this.#challenges.isRight(authorization, 'INVITE', { username, password }, address)
    const connections = await this.#connections.ofUser(username, dialed)
    // An unknown user costs the same time as a wrong password, so the time does not show which users exist.
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
