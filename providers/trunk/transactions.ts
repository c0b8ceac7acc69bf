/**
 * Transactions of SIP (RFC 3261, section 17): a request with all its answers, each of which may be lost or doubled.
 *
 *   request we got:   trying ──answer──► provisional ──► final ──ACK──► done       (repeated until the ACK)
 *   request we sent:  calling ──100..199──► proceeding ──200..699──► done          (repeated until an answer)
 *
 * The timers are those of the RFC on the injected clock. Answers to requests that came twice are sent again from here.
 */
import { randomBytes } from 'node:crypto'
import type { Clock } from '../../domain/ports/system.ts'
import { hostText, type Peer, sipPort } from './address.ts'
import { ClientTransaction, type Draft, type ResponseHandlers, type SentRequest } from './client-transaction.ts'
import { type Header, isRequest, type SipMessage, type SipRequest, writeMessage } from './message.ts'
import { ServerTransaction } from './server-transaction.ts'
import type { SipTransport } from './transport.ts'

export type TransactionsDeps = {
  clock: Clock
  /** The address at which peers reach us. */
  publicAddress: string
  transport: () => Pick<SipTransport, 'send' | 'port'>
  /** A request that came for the first time. */
  requested(transaction: ServerTransaction, size: number): void
  /** An ACK of an answer 200, which belongs to no transaction. */
  acknowledged(request: SipRequest, source: Peer): void
  /** The request of the transaction is to end. */
  cancelled(transaction: ServerTransaction): void
}

/** More requests are not answered: their senders repeat them. */
const transactionsMax = 8192

export class Transactions {
  readonly #deps: TransactionsDeps
  readonly #servers = new Map<string, ServerTransaction>()
  readonly #clients = new Map<string, ClientTransaction>()

  constructor(deps: TransactionsDeps) {
    this.#deps = deps
  }

  received(message: SipMessage, peer: Peer, size: number): void {
    if (!isRequest(message))
      return this.#clients.get(clientKey(message.via.branch, message.cseq.method))?.response(message, peer)
    const own = this.#servers.get(serverKey(message, peer, message.method === 'ACK' ? 'INVITE' : message.method))
    if (message.method === 'ACK') return own === undefined ? this.#deps.acknowledged(message, peer) : own.acknowledged()
    if (own !== undefined) return own.repeated()
    if (this.#servers.size >= transactionsMax) return
    const transaction = this.#serve(message, peer)
    if (message.method === 'CANCEL') return this.#cancel(transaction, size)
    this.#deps.requested(transaction, size)
  }

  /** Sends a request until it is answered. */
  request(draft: Draft, peer: Peer, handlers: ResponseHandlers): ClientTransaction {
    const branch = newBranch()
    const transaction = this.#client({ draft, peer, branch, via: this.#via(peer, branch) }, handlers)
    transaction.start()
    return transaction
  }

  /** Sends a CANCEL for an INVITE of another process. The last answer to it comes to the handlers. */
  cancelSent(sent: SentRequest, handlers: ResponseHandlers): void {
    this.#client(sent, handlers).cancelSent()
  }

  /** Sends an ACK, which nobody answers. */
  acknowledge(draft: Draft, peer: Peer): void {
    this.#send(draft, this.#via(peer, newBranch()), peer)
  }

  close(): void {
    for (const transaction of this.#servers.values()) transaction.end()
    for (const transaction of this.#clients.values()) transaction.end()
  }

  #serve(request: SipRequest, peer: Peer): ServerTransaction {
    const key = serverKey(request, peer, request.method)
    const transaction = new ServerTransaction(request, answersTo(request, peer), {
      clock: this.#deps.clock,
      source: peer,
      send: (bytes, to) => this.#deps.transport().send(bytes, to),
      over: () => this.#servers.delete(key),
    })
    this.#servers.set(key, transaction)
    return transaction
  }

  #cancel(transaction: ServerTransaction, size: number): void {
    const { request, source } = transaction
    const cancelled = this.#servers.get(serverKey(request, source, 'INVITE'))
    // Anybody can send it, so it must not take the place of a request that somebody waits for.
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
      // A CANCEL names the request that it ends by the same branch.
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

/** Another source that copies a branch must not reach the transaction. */
function serverKey({ via }: SipRequest, { address }: Peer, method: string): string {
  return `${via.branch} ${via.host}:${via.port ?? ''} ${method} ${address}`
}

/** Answers go to the address that sent, and to the port in Via unless the sender asks for its own (RFC 3581). */
function answersTo({ via }: SipRequest, source: Peer): Peer {
  if (source.transport === 'tcp' || via.wantsSourcePort) return source
  return { ...source, port: via.port ?? sipPort }
}
