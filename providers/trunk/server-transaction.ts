/** A received request, and our answers to it. */
import type { Clock } from '../../domain/ports/system.ts'
import type { Peer } from './address.ts'
import { type Header, type SipRequest, writeMessage } from './message.ts'
import { reasonPhrase } from './reason-phrases.ts'
import { Repeats } from './repeats.ts'

export type ServerTransactionDeps = {
  clock: Clock
  /** The request's source address and source port. */
  source: Peer
  send: (bytes: Buffer, to: Peer) => void
  /** Called when the transaction has ended and can be forgotten. */
  over: () => void
}

/** 64 times T1 (RFC 3261). After this time the peer repeats no request, and we wait no longer for an answer's ACK. */
const lifetimeMs = 32_000

export type Answer = { toTag?: string; headers?: readonly Header[]; body?: string; unacknowledged?: () => void }

export class ServerTransaction {
  readonly request: SipRequest
  /** The destination for our answers, and for our requests in the dialog. */
  readonly peer: Peer
  readonly #deps: ServerTransactionDeps
  readonly #repeats: Repeats
  #last: Buffer | null = null
  #isCancelled = false
  #isFinal = false
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
    return this.#isFinal
  }

  /** True if the other side has sent a CANCEL, perhaps before we began to handle the request. */
  get isCancelled(): boolean {
    return this.#isCancelled
  }

  cancelled(): void {
    this.#isCancelled = true
  }

  /**
   * Sends an answer. After a final answer, further calls do nothing. `unacknowledged` is called if an answer 200 to
   * INVITE gets no ACK.
   */
  respond(code: number, { toTag, headers = [], body = '', unacknowledged }: Answer = {}): void {
    if (this.#isFinal) return
    this.#last = this.#written(code, toTag, headers, body)
    this.#deps.send(this.#last, this.peer)
    if (code < 200) return
    this.#isFinal = true
    const isInvite = this.request.method === 'INVITE'
    // Proxies do not repeat an answer 200, so it is repeated over TCP too.
    if (isInvite && (code < 300 || this.peer.transport === 'udp')) this.#repeats.start(() => this.repeated(), 4000)
    this.#cancelEnd = this.#deps.clock.after(lifetimeMs, () => {
      this.end()
      if (isInvite && code < 300 && !this.#isAcknowledged) unacknowledged?.()
    })
  }

  /**
   * Answers once and forgets the request, so that it costs no memory. Leaves headers out, the first header first, until
   * the answer is no longer than `bytesMax`. If it is still longer, sends nothing.
   */
  respondOnce(code: number, headers: readonly Header[], bytesMax: number): void {
    const bytes = this.#written(code, 'none', headers, '')
    if (bytes.length > bytesMax && headers.length > 1) return this.respondOnce(code, headers.slice(1), bytesMax)
    this.#isFinal = true
    if (bytes.length <= bytesMax) this.#deps.send(bytes, this.peer)
    this.end()
  }

  repeated(): void {
    if (this.#last !== null) this.#deps.send(this.#last, this.peer)
  }

  acknowledged(): void {
    this.#isAcknowledged = true
    this.#repeats.stop()
  }

  end(): void {
    this.#repeats.stop()
    this.#cancelEnd()
    this.#deps.over()
  }

  #written(code: number, toTag: string | undefined, headers: readonly Header[], body: string): Buffer {
    const { request, source } = this
    const copied: Header[] = request.headers.flatMap(([name, value], at): Header[] => {
      const isFirstVia = name === 'via' && request.headers.findIndex(([own]) => own === 'via') === at
      if (isFirstVia) return [[name, viaWithSource(value, source)]]
      if (name === 'to' && toTag !== undefined && request.to.tag === null) return [[name, `${value};tag=${toTag}`]]
      return copiedNames.has(name) ? [[name, value]] : []
    })
    return writeMessage(`SIP/2.0 ${code} ${reasonPhrase(code)}`, [...copied, ...headers], body)
  }
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
