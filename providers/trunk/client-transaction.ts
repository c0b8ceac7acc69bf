/** A client transaction: a request sent by us, and its responses. */
import type { Clock } from '../../domain/ports/system.ts'
import type { Peer } from './address.ts'
import { type Header, type SipResponse, valueOf } from './message.ts'
import { Repeats } from './repeats.ts'

/** A request without the routing headers Via and Max-Forwards. */
export type Draft = { method: string; uri: string; headers: readonly Header[]; body?: string }

/** The stored values to cancel a sent request later, even from another process. */
export type SentRequest = {
  draft: Draft
  peer: Peer
  /** The Via header and its branch. The peer identifies the request by these values. */
  via: string
  branch: string
}

export type ResponseHandlers = {
  /** Called for each response, and again for each repeated 200 to an INVITE, because each repeat needs an ACK. */
  response(response: SipResponse): void
  /** Called if no response arrived in time. */
  timeout(): void
}

export type ClientTransactionDeps = {
  clock: Clock
  via: string
  branch: string
  handlers: ResponseHandlers
  send: (draft: Draft) => void
  /** Sends a CANCEL for this request. */
  cancel: (draft: Draft) => void
  /** Called when the transaction has ended and can be forgotten. */
  over: () => void
}

/**
 * 64 times T1 (RFC 3261). A request without a response for this long has failed. No repeated response can arrive later.
 */
const patienceMs = 32_000
const pauseMaxMs = 4_000

export class ClientTransaction {
  readonly #draft: Draft
  readonly #peer: Peer
  readonly #deps: ClientTransactionDeps
  readonly #repeats: Repeats
  #state: 'calling' | 'proceeding' | 'done' = 'calling'
  #wantsCancel = false
  #cancelTimer = () => {}

  constructor(draft: Draft, peer: Peer, deps: ClientTransactionDeps) {
    this.#draft = draft
    this.#peer = peer
    this.#deps = deps
    this.#repeats = new Repeats(deps.clock)
  }

  get #isInvite(): boolean {
    return this.#draft.method === 'INVITE'
  }

  get sent(): SentRequest {
    const { via, branch } = this.#deps
    return { draft: this.#sameRequest(this.#draft.method, null), peer: this.#peer, via, branch }
  }

  /**
   * Cancels an INVITE sent by another process. The CANCEL is sent at once, because the peer has already sent a
   * provisional response.
   */
  cancelSent(): void {
    this.#state = 'proceeding'
    this.cancel()
  }

  start(): void {
    const { clock, send, handlers } = this.#deps
    send(this.#draft)
    if (this.#peer.transport === 'udp')
      this.#repeats.start(() => send(this.#draft), this.#isInvite ? patienceMs : pauseMaxMs)
    this.#cancelTimer = clock.after(patienceMs, () => {
      const wasDone = this.#state === 'done'
      this.end()
      if (!wasDone) handlers.timeout()
    })
  }

  response(response: SipResponse, { address }: Peer): void {
    // A response from any other IP address is ignored.
    if (address !== this.#peer.address) return
    const { code } = response
    const wasDone = this.#state === 'done'
    if (this.#isInvite && code >= 300) this.#acknowledge(response)
    if (code < 200) return this.#provisional(response)
    if (wasDone && !(this.#isInvite && code < 300)) return
    this.#finish()
    this.#deps.handlers.response(response)
  }

  /**
   * Cancels an INVITE. The CANCEL is sent only after the first provisional response, because before it a peer may
   * ignore the CANCEL.
   */
  cancel(): void {
    if (this.#state === 'done' || this.#wantsCancel) return
    this.#wantsCancel = true
    if (this.#state === 'proceeding') this.#sendCancel()
  }

  end(): void {
    this.#repeats.stop()
    this.#cancelTimer()
    this.#deps.over()
  }

  #provisional(response: SipResponse): void {
    if (this.#state === 'done') return
    const isFirst = this.#state === 'calling'
    this.#state = 'proceeding'
    if (this.#isInvite && isFirst) {
      this.#repeats.stop()
      // After the first provisional response the transaction has no time limit, because the calling code limits the
      // ringing time.
      this.#cancelTimer()
      if (this.#wantsCancel) return this.#sendCancel()
    }
    this.#deps.handlers.response(response)
  }

  #finish(): void {
    if (this.#state === 'done') return
    this.#state = 'done'
    this.#repeats.stop()
    this.#cancelTimer()
    this.#cancelTimer = this.#deps.clock.after(patienceMs, () => this.end())
  }

  /** Sends the CANCEL. If the INVITE gets no final response within 32 s, it counts as failed. */
  #sendCancel(): void {
    const { clock, cancel, handlers } = this.#deps
    cancel(this.#sameRequest('CANCEL', null))
    this.#cancelTimer = clock.after(patienceMs, () => {
      this.end()
      handlers.timeout()
    })
  }

  #acknowledge(response: SipResponse): void {
    this.#deps.send(this.#sameRequest('ACK', valueOf(response.headers, 'to')))
  }

  /**
   * Makes the ACK to a refusal, or the CANCEL. ACK and CANCEL repeat the request's headers (RFC 3261, sections 9.1 and
   * 17.1.1.3).
   */
  #sameRequest(method: string, to: string | null): Draft {
    const headers = this.#draft.headers.flatMap(([name, value]): Header[] => {
      if (name === 'cseq') return [[name, value.replace(/[A-Z]+$/, method)]]
      if (name === 'to') return [[name, to ?? value]]
      return name === 'from' || name === 'call-id' || name === 'route' ? [[name, value]] : []
    })
    return { method, uri: this.#draft.uri, headers }
  }
}
