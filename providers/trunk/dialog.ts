/**
 * A dialog (RFC 3261, section 12): the Call-ID, tags and sequence numbers shared by all requests between a call's two
 * sides.
 */
import { addressOf, type Peer } from './address.ts'
import type { Draft } from './client-transaction.ts'
import { type Header, type SipMessage, type SipRequest, type SipResponse, valuesOf } from './message.ts'

export type DialogStart = {
  /** True if we made the call. */
  isOurs: boolean
  callId: string
  /** The From and To values for our requests, with their tags. */
  local: string
  localTag: string
  remote: string
  remoteTag: string | null
  target: string
  routes: readonly string[]
  /**
   * The destination for requests is the call's first address, and not the address in Contact: a message must not make
   * us send to other hosts, and behind NAT the Contact address is often unreachable.
   */
  peer: Peer
  localCseq: number
  remoteCseq: number
  /** Our Contact header. */
  contact: string
}

export class Dialog {
  readonly start: DialogStart
  #target: string
  #localCseq: number
  #remoteCseq: number

  constructor(start: DialogStart) {
    this.start = start
    this.#target = start.target
    this.#localCseq = start.localCseq
    this.#remoteCseq = start.remoteCseq
  }

  /** Makes the dialog for a received request, before our response. */
  static ofRequest(request: SipRequest, peer: Peer, localTag: string, contact: string): Dialog {
    const { callId, from, to, headers, cseq } = request
    return new Dialog({
      isOurs: false,
      callId,
      local: `${to.text};tag=${localTag}`,
      localTag,
      remote: from.text,
      remoteTag: from.tag,
      target: contactOf(request) ?? from.uri,
      routes: valuesOf(headers, 'record-route'),
      peer,
      localCseq: 0,
      remoteCseq: cseq.number,
      contact,
    })
  }

  /** Makes the dialog from a response to our INVITE. */
  static ofResponse(response: SipResponse, draft: Draft, localTag: string, peer: Peer, contact: string): Dialog {
    const { callId, from, to, headers, cseq } = response
    return new Dialog({
      isOurs: true,
      callId,
      local: from.text,
      localTag,
      remote: to.text,
      remoteTag: to.tag,
      target: contactOf(response) ?? draft.uri,
      routes: valuesOf(headers, 'record-route').reverse(),
      peer,
      localCseq: cseq.number,
      remoteCseq: -1,
      contact,
    })
  }

  /** Returns the current values. A new dialog with these values continues this dialog. */
  now(): DialogStart {
    const [target, localCseq, remoteCseq] = [this.#target, this.#localCseq, this.#remoteCseq]
    return { ...this.start, target, localCseq, remoteCseq }
  }

  /** Makes a request with the next sequence number. */
  draft(method: string, headers: readonly Header[] = [], body = ''): Draft {
    this.#localCseq++
    return this.#draft(method, this.#localCseq, headers, body)
  }

  ack(cseq: number, headers: readonly Header[] = [], body = ''): Draft {
    return this.#draft('ACK', cseq, headers, body)
  }

  /** True if the request's Call-ID and tags belong to this dialog (RFC 3261, section 12.2.2). */
  isOf({ callId, from, to }: SipRequest): boolean {
    const { start } = this
    return callId === start.callId && to.tag === start.localTag && from.tag === start.remoteTag
  }

  /** Records the request's sequence number. Returns false if a newer request has already arrived. */
  takes({ cseq }: SipRequest): boolean {
    if (cseq.number <= this.#remoteCseq) return false
    this.#remoteCseq = cseq.number
    return true
  }

  /** The other side's address, as the other side wrote it. */
  get remoteUri(): string {
    return addressOf(this.start.remote)?.uri ?? ''
  }

  /** Uses the URI in the message's Contact as the target for later requests. */
  retarget(message: SipMessage): void {
    this.#target = contactOf(message) ?? this.#target
  }

  #draft(method: string, cseq: number, headers: readonly Header[], body: string): Draft {
    const { callId, local, remote, routes, contact } = this.start
    return {
      method,
      uri: this.#target,
      headers: [
        ...routes.map((route): Header => ['route', route]),
        ['from', local],
        ['to', remote],
        ['call-id', callId],
        ['cseq', `${cseq} ${method}`],
        ['contact', contact],
        ...headers,
      ],
      body,
    }
  }
}

const contactOf = ({ headers }: SipMessage): string | null =>
  addressOf(valuesOf(headers, 'contact')[0] ?? '')?.uri ?? null
