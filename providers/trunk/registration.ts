/**
 * One login's registration at its trunk (RFC 3261, section 10.2). The registration's Contact states the IP address and
 * port to which the trunk sends its calls.
 *
 *   asked ──200──► registered ──half of its time──► asked
 *     └── refusal, no answer ──► waiting ──60 s … 600 s──► asked
 *
 * If the trunk refuses a renewal, the earlier registration stays valid until it expires. So the next attempt is made
 * before it expires.
 */
import type { SipConnection } from '../../domain/ports/sip-connections.ts'
import type { Clock } from '../../domain/ports/system.ts'
import { uniqueId } from '../../runtime/timing/clock.ts'
import type { Peer } from './address.ts'
import { Authentication } from './authentication.ts'
import type { Draft } from './client-transaction.ts'
import { registeredUser } from './dialed.ts'
import { credentialsOf } from './digest.ts'
import { type Header, type SipResponse, valueOf, valuesOf } from './message.ts'
import { recordOf } from './outbound-names.ts'
import type { Transactions } from './transactions.ts'

export type RegistrationDeps = {
  transactions: Transactions
  clock: Clock
  /** Resolves the trunk's address, or null if the host has no permitted address. */
  resolve: (connection: SipConnection) => Promise<Peer | null>
  /** Returns our Contact header for this peer and user name. */
  contact: (peer: Peer, user: string) => string
  /** Called after each attempt. `failure` is null if the trunk accepted the registration. */
  answered: (connection: SipConnection, failure: RegistrationFailure | null) => void
}

/**
 * The code of the trunk's response, or the reason why there is no response. `no_address`: the host has no permitted
 * address.
 */
export type RegistrationFailure = number | 'no_answer' | 'no_address'

const defaultExpiresS = 600
const longestS = 86_400
const soonestMs = 5_000
const retryFirstMs = 60_000
const retryMaxMs = 600_000
/**
 * How often we repeat a REGISTER request because the trunk requires a longer expiry (423). More repeats mean a faulty
 * trunk.
 */
const minExpiresRetriesMax = 2

type Attempt = {
  peer: Peer
  expiresS: number
  authentication: Authentication
  minExpiresRetries: number
  more: readonly Header[]
}

export class Registration {
  readonly connection: SipConnection
  readonly #deps: RegistrationDeps
  /** All REGISTER requests share this Call-ID and one sequence counter. */
  readonly #callId = uniqueId()
  readonly #tag = uniqueId()
  #cseq = 0
  #expiresS = defaultExpiresS
  #retryMs = retryFirstMs
  #cancelTimer = () => {}
  /** The trunk's address, and the time when the registration expires. Null if not registered. */
  #granted: { peer: Peer; untilMs: number } | null = null
  #challenge: SipResponse | null = null
  #isEnded = false

  constructor(connection: SipConnection, deps: RegistrationDeps) {
    this.connection = connection
    this.#deps = deps
    void this.#register()
  }

  /** The trunk's address, the source address for its calls. Null if not registered. */
  get address(): string | null {
    return this.#leftMs() > 0 ? (this.#granted?.peer.address ?? null) : null
  }

  /** Removes the registration at the trunk without waiting for the response. */
  end(): void {
    this.#isEnded = true
    this.#cancelTimer()
    const peer = this.#leftMs() > 0 ? this.#granted?.peer : undefined
    this.#granted = null
    if (peer === undefined) return
    const attempt = { peer, expiresS: 0, authentication: this.#authentication(), minExpiresRetries: 0, more: [] }
    // The request includes the login at once, because SIP may be closed before the trunk can send a challenge.
    const login = this.#challenge && attempt.authentication.answer(this.#challenge, this.#draft(attempt))
    this.#send({ ...attempt, more: login === null ? [] : [login] })
  }

  #authentication(): Authentication {
    return new Authentication(credentialsOf(this.connection))
  }

  #contact(peer: Peer): string {
    return this.#deps.contact(peer, registeredUser(this.connection.id))
  }

  async #register(): Promise<void> {
    const peer = await this.#deps.resolve(this.connection)
    if (this.#isEnded) return
    if (peer === null) return this.#failed('no_address')
    this.#send({
      peer,
      expiresS: this.#expiresS,
      authentication: this.#authentication(),
      minExpiresRetries: 0,
      more: [],
    })
  }

  #draft({ peer, expiresS, more }: Attempt): Draft {
    const { outbound } = this.connection
    const host = outbound?.host ?? peer.address
    const record = recordOf({ username: outbound?.username ?? null, host })
    return {
      method: 'REGISTER',
      uri: `sip:${record.slice(record.lastIndexOf('@') + 1)}`,
      headers: [
        ['from', `<${record}>;tag=${this.#tag}`],
        ['to', `<${record}>`],
        ['call-id', this.#callId],
        ['cseq', `${this.#cseq + 1} REGISTER`],
        ['contact', `${this.#contact(peer)};expires=${expiresS}`],
        ['expires', String(expiresS)],
        ...more,
      ],
    }
  }

  #send(attempt: Attempt): void {
    const draft = this.#draft(attempt)
    this.#cseq++
    this.#deps.transactions.request(draft, attempt.peer, {
      response: (response) => this.#response(response, draft, attempt),
      timeout: () => this.#failed('no_answer'),
    })
  }

  #response(response: SipResponse, draft: Draft, attempt: Attempt): void {
    const { code, headers } = response
    if (code < 200) return
    const login = attempt.authentication.answer(response, draft)
    if (login !== null) {
      this.#challenge = response
      return this.#send({ ...attempt, more: [login] })
    }
    if (this.#isEnded) return
    if (code < 300) return this.#registered(response, attempt)
    const least = Number(valueOf(headers, 'min-expires'))
    // Code 423: the trunk requires a longer expiry (RFC 3261, section 10.2.8).
    if (
      code !== 423 ||
      !(least > attempt.expiresS && least <= longestS) ||
      attempt.minExpiresRetries >= minExpiresRetriesMax
    )
      return this.#failed(code)
    this.#expiresS = least
    const authentication = this.#authentication()
    this.#send({
      ...attempt,
      authentication,
      expiresS: least,
      minExpiresRetries: attempt.minExpiresRetries + 1,
      more: [],
    })
  }

  #registered(response: SipResponse, { peer, expiresS }: Attempt): void {
    const lastsMs = Math.min(expiresOf(response, this.#contact(peer)) ?? expiresS, longestS) * 1000
    this.#granted = { peer, untilMs: this.#deps.clock.monotonicMs() + lastsMs }
    this.#retryMs = retryFirstMs
    this.#deps.answered(this.connection, null)
    this.#later(Math.max(soonestMs, lastsMs / 2))
  }

  #failed(failure: RegistrationFailure): void {
    if (this.#isEnded) return
    this.#deps.answered(this.connection, failure)
    const leftMs = this.#leftMs()
    if (leftMs > soonestMs) return this.#later(Math.min(retryFirstMs, Math.max(soonestMs, leftMs / 2)))
    this.#later(this.#retryMs)
    this.#retryMs = Math.min(2 * this.#retryMs, retryMaxMs)
  }

  /** Returns the time until the registration expires. */
  #leftMs(): number {
    return Math.max(0, (this.#granted?.untilMs ?? 0) - this.#deps.clock.monotonicMs())
  }

  #later(delayMs: number): void {
    this.#cancelTimer()
    this.#cancelTimer = this.#deps.clock.after(delayMs, () => void this.#register())
  }
}

/**
 * Returns the expiry granted by the trunk in seconds, for our Contact or for all Contacts (RFC 3261, section 10.2.4).
 * Returns null if the response states no expiry.
 */
function expiresOf({ headers }: SipResponse, own: string): number | null {
  const [, uri = ''] = /<([^<>]+)>/.exec(own) ?? []
  const contact = valuesOf(headers, 'contact').find((value) => value.includes(uri))
  const [, seconds] = /;[ \t]*expires[ \t]*=[ \t]*"?(\d{1,9})/i.exec(contact ?? '') ?? []
  const text = seconds ?? valueOf(headers, 'expires') ?? ''
  return /^\d{1,9}$/.test(text) ? Number(text) : null
}

/** True if both connections need the same registration. */
export function isSameRegistration(one: SipConnection, other: SipConnection): boolean {
  const of = ({ outbound, inbound }: SipConnection) =>
    outbound && [
      outbound.host,
      outbound.port,
      outbound.transport,
      outbound.username,
      outbound.password,
      inbound !== null,
    ]
  return JSON.stringify(of(one)) === JSON.stringify(of(other))
}
