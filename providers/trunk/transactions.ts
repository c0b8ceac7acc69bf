/**
 * SIP transactions (RFC 3261, section 17): each is a request with all its responses. Each message may be lost or
 * duplicated.
 *
 *   request we got:   trying ──answer──► provisional ──► final ──ACK──► done       (repeated until the ACK)
 *   request we sent:  calling ──100..199──► proceeding ──200..699──► done          (repeated until an answer)
 *
 * The timers follow the RFC and run on the given clock. If a request arrives twice, its response is sent again without
 * handling the request again. The table's places are divided among organizations, so that too many requests from one
 * trunk leave room for other calls. Among requests outside a call, only INVITE needs a place in the table.
 */

import { randomBytes } from 'node:crypto'
import type { Clock } from '../../domain/ports/system.ts'
import type { Capacity } from '../../runtime/shares/capacity.ts'
import { answersTo, hostText, type Peer } from './address.ts'
import { ClientTransaction, type Draft, type ResponseHandlers, type SentRequest } from './client-transaction.ts'
import { dividedPlaces } from './divided-places.ts'
import { type Header, isRequest, type SipMessage, type SipRequest, writeMessage } from './message.ts'
import { ServerTransaction } from './server-transaction.ts'
import type { SipTransport } from './transport.ts'

export type TransactionsDeps = {
  clock: Clock
  /** The IP address at which peers can reach us, for Via headers. */
  publicAddress: string
  /** The maximum number of requests remembered, to recognize repeated requests. */
  transactionsMax: number
  transport: () => Pick<SipTransport, 'send' | 'port'>
  /**
   * Called for each new request. Repeated requests get the stored response here while the request is kept or still
   * being handled.
   */
  requested(transaction: ServerTransaction, size: number): void
  /** Called for the ACK to a 200 response. Such an ACK belongs to no transaction. */
  acknowledged(request: SipRequest, source: Peer): void
  /** Called when a CANCEL arrives before the request's final response. */
  cancelled(transaction: ServerTransaction): void
}

export class Transactions {
  readonly #deps: TransactionsDeps
  readonly #servers = new Map<string, ServerTransaction>()
  readonly #clients = new Map<string, ClientTransaction>()
  /**
   * The places in the transaction table. One organization's part always stays free for other organizations, because an
   * attacker can forge a trunk's IP address.
   */
  readonly #places: Capacity

  constructor(deps: TransactionsDeps) {
    this.#deps = deps
    this.#places = dividedPlaces(deps.transactionsMax)
  }

  received(message: SipMessage, peer: Peer, size: number): void {
    if (!isRequest(message))
      return this.#clients.get(clientKey(message.via.branch, message.cseq.method))?.response(message, peer)
    const own = this.#servers.get(serverKey(message, peer, message.method === 'ACK' ? 'INVITE' : message.method))
    if (message.method === 'ACK') return own === undefined ? this.#deps.acknowledged(message, peer) : own.acknowledged()
    if (own !== undefined) return own.repeated()
    const transaction = this.#serve(message, peer)
    if (message.method === 'CANCEL') return this.#cancel(transaction, size)
    this.#deps.requested(transaction, size)
  }

  /** Sends a request, repeatedly over UDP, until a response arrives. */
  request(draft: Draft, peer: Peer, handlers: ResponseHandlers): ClientTransaction {
    const branch = newBranch()
    const transaction = this.#client({ draft, peer, branch, via: this.#via(peer, branch) }, handlers)
    transaction.start()
    return transaction
  }

  /** Sends a CANCEL for another process's INVITE. The handlers receive the last response to that INVITE. */
  cancelSent(sent: SentRequest, handlers: ResponseHandlers): void {
    this.#client(sent, handlers).cancelSent()
  }

  /** Sends an ACK. There is no response to an ACK. */
  acknowledge(draft: Draft, peer: Peer): void {
    this.#send(draft, this.#via(peer, newBranch()), peer)
  }

  close(): void {
    for (const transaction of this.#servers.values()) transaction.end()
    for (const transaction of this.#clients.values()) transaction.end()
  }

  #serve(request: SipRequest, peer: Peer): ServerTransaction {
    const key = serverKey(request, peer, request.method)
    const transaction: ServerTransaction = new ServerTransaction(request, answersTo(request.via, peer), {
      clock: this.#deps.clock,
      source: peer,
      send: (bytes, to) => this.#deps.transport().send(bytes, to),
      place: (owner, giveBack) => this.#places.take(owner, 1, giveBack),
      over: () => {
        // Meanwhile another request with the same key may have replaced this transaction in the table.
        if (this.#servers.get(key) === transaction) this.#servers.delete(key)
      },
    })
    this.#servers.set(key, transaction)
    return transaction
  }

  #cancel(transaction: ServerTransaction, size: number): void {
    const { request, source } = transaction
    const cancelled = this.#servers.get(serverKey(request, source, 'INVITE'))
    // Any sender can send a CANCEL, so a CANCEL without its INVITE must not use a place in the table.
    if (cancelled === undefined) return transaction.respondOnce(481, [], size)
    transaction.respond(200)
    if (cancelled.isFinal) return
    cancelled.cancelled()
    this.#deps.cancelled(cancelled)
  }

  #client({ draft, peer, via, branch }: SentRequest, handlers: ResponseHandlers): ClientTransaction {
    const key = clientKey(branch, draft.method)
    const transaction = new ClientTransaction(draft, peer, {
      clock: this.#deps.clock,
      handlers,
      via,
      branch,
      send: (sent) => this.#send(sent, via, peer),
      // A CANCEL has the same branch as its request.
      cancel: (cancelling) => this.#client({ draft: cancelling, peer, via, branch }, ignored).start(),
      over: () => this.#clients.delete(key),
    })
    this.#clients.set(key, transaction)
    return transaction
  }

  #via({ transport }: Peer, branch: string): string {
    const { publicAddress, transport: sockets } = this.#deps
    const at = `${hostText(publicAddress)}:${sockets().port}`
    return `SIP/2.0/${transport.toUpperCase()} ${at};branch=${branch};rport`
  }

  #send({ method, uri, headers, body = '' }: Draft, via: string, peer: Peer): void {
    const all: Header[] = [['via', via], ['max-forwards', '70'], ...headers]
    this.#deps.transport().send(writeMessage(`${method} ${uri} SIP/2.0`, all, body), peer)
  }
}

const ignored: ResponseHandlers = { response: () => {}, timeout: () => {} }
const newBranch = () => `z9hG4bK${randomBytes(12).toString('hex')}`
const clientKey = (branch: string, method: string) => `${branch} ${method}`

/**
 * Returns the table key. The key includes the source address, so that a copied branch from another source does not
 * match the transaction.
 */
function serverKey({ via }: SipRequest, { address }: Peer, method: string): string {
  return `${via.branch} ${via.host}:${via.port ?? ''} ${method} ${address}`
}
