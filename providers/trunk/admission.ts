/**
 * Finds the SIP connection for a request. A trunk with our registration may call the user name from that registration:
 * this name then decides. Otherwise the source address decides, and after it a login. If another connection with a
 * login imported the dialled number first, the source address alone is not enough. A source without a connection gets
 * at most one short answer. The answer is never longer than the request, so that a forged source address cannot turn us
 * into a flood against somebody else.
 */
import type { SipConnection, SipConnections } from '../../domain/ports/sip-connections.ts'
import type { Clock } from '../../domain/ports/system.ts'
import { userOf } from './address.ts'
import { dialedOf, registeredUser } from './dialed.ts'
import { Challenges } from './digest.ts'
import type { TrunkLimits } from './limits.ts'
import { valueOf } from './message.ts'
import type { ServerTransaction } from './server-transaction.ts'

/** If no connection was found for a source address, it is not looked up again for this long. */
const unknownMs = 1_000
const unknownMax = 4096

export class Admission {
  readonly #connections: SipConnections
  readonly #clock: Clock
  readonly #lookupsMax: number
  readonly #challenges: Challenges
  readonly #unknown = new Map<string, number>()
  /** Returns the connections with a registration at an address, if they take incoming calls. */
  readonly #registered: (address: string) => readonly SipConnection[]
  #open = 0

  constructor(
    connections: SipConnections,
    clock: Clock,
    { lookupsMax }: Pick<TrunkLimits, 'lookupsMax'>,
    registered: (address: string) => readonly SipConnection[],
  ) {
    this.#connections = connections
    this.#registered = registered
    this.#clock = clock
    this.#lookupsMax = lookupsMax
    this.#challenges = new Challenges(clock)
  }

  /** Returns the request's connection, or null if the request was answered or dropped. */
  async admit(transaction: ServerTransaction, size: number): Promise<SipConnection | null> {
    const { request, source } = transaction
    if (this.#open >= this.#lookupsMax) return this.#drop(transaction)
    this.#open++
    try {
      const dialed = dialedOf(request)
      const registered = this.#registered(source.address)
      const named = registered.find(({ id }) => registeredUser(id) === userOf(request.uri))
      // The trunk itself names the connection. Its address alone would not be enough: other organizations may have
      // imported the number too, or an address range with this trunk in it.
      if (named !== undefined) return named
      const connection = await this.#ofAddress(source.address, dialed, registered)
      const isCall = request.method === 'INVITE'
      if (connection !== undefined && !(isCall && (await this.#connections.wantsLogin(dialed, connection.id))))
        return connection
      if (connection === undefined) this.#remember(source.address)
      return isCall ? await this.#byLogin(transaction, size, dialed) : this.#drop(transaction)
    } finally {
      this.#open--
    }
  }

  /** Returns undefined if no connection takes calls from the address. */
  async #ofAddress(
    address: string,
    dialed: string,
    registered: readonly SipConnection[],
  ): Promise<SipConnection | undefined> {
    if (registered.length === 0 && this.#isUnknown(address)) return undefined
    const ids = registered.map(({ id }) => id)
    const [connection] = await this.#connections.ofAddress(address, dialed, ids)
    return connection
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
    for (const connection of await this.#connections.ofUser(username, dialed)) {
      const password = connection.inbound?.password ?? null
      const credentials = password === null ? null : { username, password }
      if (credentials && this.#challenges.isRight(authorization, 'INVITE', credentials, source.address))
        return connection
    }
    transaction.respondOnce(403, [], size)
    return null
  }

  #drop(transaction: ServerTransaction): null {
    transaction.end()
    return null
  }

  #isUnknown(address: string): boolean {
    return (this.#unknown.get(address) ?? 0) > this.#clock.monotonicMs()
  }

  #remember(address: string): void {
    if (this.#isUnknown(address)) return
    this.#unknown.delete(address)
    this.#unknown.set(address, this.#clock.monotonicMs() + unknownMs)
    if (this.#unknown.size > unknownMax)
      for (const oldest of this.#unknown.keys()) return void this.#unknown.delete(oldest)
  }
}
