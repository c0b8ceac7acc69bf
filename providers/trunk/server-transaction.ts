/** A request that we got, and our answers to it. */
import type { Clock } from '../../domain/ports/system.ts'
import type { Peer } from './address.ts'
import { type Header, type SipRequest, writeMessage } from './message.ts'
import { reasonPhrase } from './reason-phrases.ts'
import { Repeats } from './repeats.ts'

export type ServerTransactionDeps = {
  clock: Clock
  /** The address and the port from which the request came. */
  source: Peer
  send: (bytes: Buffer, to: Peer) => void
  /** The transaction is forgotten. */
  over: () => void
}

/** After it, no request is repeated, and an answer without ACK is given up (64 times T1). */
const keptMs = 32_000

export type Answer = { toTag?: string; headers?: readonly Header[]; body?: string; unacknowledged?: () => void }

export class ServerTransaction {
  readonly request: SipRequest
  /** Answers go here, and so do requests for the dialog. */
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

  /** The other side has taken the request back, perhaps before anything was begun for it. */
  get isCancelled(): boolean {
    return this.#isCancelled
  }

  cancelled(): void {
    this.#isCancelled = true
  }

  /** `unacknowledged` is called when nobody has acknowledged an answer 200 to INVITE. A second final answer is not sent. */
  respond(code: number, { toTag, headers = [], body = '', unacknowledged }: Answer = {}): void {
    if (this.#isFinal) return
    this.#last = this.#written(code, toTag, headers, body)
    this.#deps.send(this.#last, this.peer)
    if (code < 200) return
    this.#isFinal = true
    const isInvite = this.request.method === 'INVITE'
    // An answer 200 goes through proxies that do not repeat it, so it is repeated over TCP too.
    if (isInvite && (code < 300 || this.peer.transport === 'udp')) this.#repeats.start(() => this.repeated(), 4000)
    this.#cancelEnd = this.#deps.clock.after(keptMs, () => {
      this.end()
      if (isInvite && code < 300 && !this.#isAcknowledged) unacknowledged?.()
    })
  }

  /**
   * Answers a request that must cost no memory: the answer is sent once, and the request forgotten. Headers are left out
   * from the first one on until the answer is no longer than `bytesMax`.
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

/** Tells the sender from where its request came (RFC 3581). Behind NAT it does not know. */
function viaWithSource(value: string, { address, port }: Peer): string {
  const comma = value.indexOf(',')
  const [first, others] = comma < 0 ? [value, ''] : [value.slice(0, comma), value.slice(comma)]
  const plain = first.replace(/;[ \t]*received[ \t]*=[^;]*/i, '')
  const withPort = plain.replace(/;[ \t]*rport[ \t]*(=[^;]*)?(?=;|$)/i, `;rport=${port}`)
  return `${withPort};received=${address}${others}`
}
