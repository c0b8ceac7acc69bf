/**
 * A server transaction: a received request, and our responses. A kept request has a place in the transaction table, and
 * if it is repeated, the last response is sent again. Any other request is forgotten after its final response, so a
 * repeat is handled like a new request (RFC 3261, section 8.2.7).
 */
import type { Clock } from '../../domain/ports/system.ts'
import type { GiveBack, Place } from '../../runtime/shares/capacity.ts'
import { addressOf, type Peer } from './address.ts'
import { type Header, type SipRequest, writeMessage } from './message.ts'
import { reasonPhrase } from './reason-phrases.ts'
import { Repeats } from './repeats.ts'

export type ServerTransactionDeps = {
  clock: Clock
  /** The request's source address and source port. */
  source: Peer
  send: (bytes: Buffer, to: Peer) => void
  /**
   * Reserves a place in the transaction table for an owner, such as an organization. Returns null if the owner has used
   * up its places now.
   */
  place: (owner: string, giveBack: GiveBack | null) => Place | null
  /** Called when the transaction has ended and can be forgotten. */
  over: () => void
}

/** 64 times T1 (RFC 3261). After this time the peer sends no repeats, and we stop waiting for the ACK to a response. */
const lifetimeMs = 32_000
/**
 * T4 (RFC 3261). The final response to any request except INVITE is kept for this long, and a refused INVITE after its
 * ACK. After this time a repeat is unlikely to be still in the network.
 */
const shortLifetimeMs = 5_000

export type Answer = { toTag?: string; headers?: readonly Header[]; body?: string; unacknowledged?: () => void }

export class ServerTransaction {
  readonly request: SipRequest
  /** The destination for our responses, and for our requests in the dialog. */
  readonly peer: Peer
  readonly #deps: ServerTransactionDeps
  readonly #repeats: Repeats
  #last: Buffer | null = null
  /** The request's place in the transaction table. Null if the request is not kept. */
  #place: Place | null = null
  #isCancelled = false
  /** The code of the final response. Null if there is no final response yet. */
  #finalCode: number | null = null
  #isAcknowledged = false
  #cancelEnd = () => {}

  constructor(request: SipRequest, peer: Peer, deps: ServerTransactionDeps) {
    this.request = request
    this.peer = peer
    this.#deps = deps
    this.#repeats = new Repeats(deps.clock)
  }

  get source(): Peer {
    return this.#deps.source
  }

  get isFinal(): boolean {
    return this.#finalCode !== null
  }

  /** True if the other side has sent a CANCEL, perhaps before we began to handle the request. */
  get isCancelled(): boolean {
    return this.#isCancelled
  }

  cancelled(): void {
    this.#isCancelled = true
  }

  /**
   * Keeps the request in one of the owner's places, to recognize its repeats. Returns false if the owner has used up
   * its places now. An INVITE's place can be taken back only after the call is refused or the ACK has arrived: earlier,
   * a repeated INVITE would start a second call.
   */
  keep(owner: string): boolean {
    this.#place = this.#deps.place(owner, this.#isInvite ? null : () => this.end())
    return this.#place !== null
  }

  /**
   * Sends a response. After a final response, later calls of this method have no effect. `unacknowledged` is called if
   * a 200 response to an INVITE gets no ACK.
   */
  respond(code: number, { toTag, headers = [], body = '', unacknowledged }: Answer = {}): void {
    if (this.isFinal) return
    this.#last = this.#written(code, toTag, headers, body)
    this.#deps.send(this.#last, this.peer)
    if (code < 200) return
    this.#finalCode = code
    if (this.#place === null) return this.end()
    // Proxies do not repeat a 200 response, so we repeat it over TCP too.
    if (this.#isInvite && (code < 300 || this.peer.transport === 'udp'))
      this.#repeats.start(() => this.repeated(), 4000)
    this.#endAfter(this.#isInvite ? lifetimeMs : shortLifetimeMs, code < 300 ? unacknowledged : undefined)
    if (code >= 300) this.#offer()
  }

  /**
   * Sends one response and forgets the request, so it uses no memory. Drops headers, beginning with the first, until
   * the response is at most `bytesMax` long. If it is still longer, sends no response.
   */
  respondOnce(code: number, headers: readonly Header[], bytesMax: number): void {
    const bytes = this.#written(code, 'none', headers, '')
    if (bytes.length > bytesMax && headers.length > 1) return this.respondOnce(code, headers.slice(1), bytesMax)
    this.#finalCode = code
    if (bytes.length <= bytesMax) this.#deps.send(bytes, this.peer)
    this.end()
  }

  /**
   * Ends a request if it cannot be handled now. Over UDP no response is sent, because the sender repeats the request.
   * Over TCP there are no repeats, so the response states when to try again (RFC 3261, section 21.5.4).
   */
  postpone(): void {
    if (this.source.transport === 'udp') return this.end()
    // The source address of a TCP socket cannot be forged, so the response may be longer than the request.
    this.respondOnce(503, [['retry-after', '1']], Number.POSITIVE_INFINITY)
  }

  repeated(): void {
    if (this.#last !== null) this.#deps.send(this.#last, this.peer)
  }

  acknowledged(): void {
    this.#isAcknowledged = true
    this.#repeats.stop()
    if (this.#finalCode === null) return
    if (this.#finalCode >= 300) this.#endAfter(shortLifetimeMs)
    this.#offer()
  }

  end(): void {
    this.#repeats.stop()
    this.#cancelEnd()
    this.#place?.end()
    this.#place = null
    this.#deps.over()
  }

  get #isInvite(): boolean {
    return this.request.method === 'INVITE'
  }

  #endAfter(ms: number, unacknowledged?: () => void): void {
    this.#cancelEnd()
    this.#cancelEnd = this.#deps.clock.after(ms, () => {
      this.end()
      if (!this.#isAcknowledged) unacknowledged?.()
    })
  }

  /** Allows the transaction table to give this request's place to another owner. */
  #offer(): void {
    this.#place?.offer(() => this.end())
  }

  #written(code: number, toTag: string | undefined, headers: readonly Header[], body: string): Buffer {
    const { request, source } = this
    return writeAnswer({ headers: request.headers, source, code, toTag, more: headers, body })
  }
}

type WrittenAnswer = {
  /** The headers of the request. */
  headers: readonly Header[]
  /** The source of the request. */
  source: Peer
  code: number
  /** The tag to add to the response's To header if To has no tag. */
  toTag: string | undefined
  more?: readonly Header[]
  body?: string
}

export function writeAnswer({ headers, source, code, toTag, more = [], body = '' }: WrittenAnswer): Buffer {
  const topmost = headers.findIndex(([name]) => name === 'via')
  const copied: Header[] = headers.flatMap(([name, value], at): Header[] => {
    if (at === topmost) return [[name, viaWithSource(value, source)]]
    if (name === 'to' && toTag !== undefined && (addressOf(value)?.tag ?? null) === null)
      return [[name, `${value};tag=${toTag}`]]
    return copiedNames.has(name) ? [[name, value]] : []
  })
  return writeMessage(`SIP/2.0 ${code} ${reasonPhrase(code)}`, [...copied, ...more], body)
}

const copiedNames = new Set(['via', 'from', 'to', 'call-id', 'cseq', 'record-route', 'timestamp'])

/** Writes the request's source address into Via (RFC 3581), because a sender behind NAT does not know it. */
function viaWithSource(value: string, { address, port }: Peer): string {
  const comma = value.indexOf(',')
  const [first, others] = comma < 0 ? [value, ''] : [value.slice(0, comma), value.slice(comma)]
  const plain = first.replace(/;[ \t]*received[ \t]*=[^;]*/i, '')
  const withPort = plain.replace(/;[ \t]*rport[ \t]*(=[^;]*)?(?=;|$)/i, `;rport=${port}`)
  return `${withPort};received=${address}${others}`
}
