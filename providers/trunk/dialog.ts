/** A dialog (RFC 3261, section 12): the names and counters that all requests between two sides of a call share. */
import { addressOf, type Peer } from './address.ts'
import type { Draft } from './client-transaction.ts'
import { type Header, type SipMessage, type SipRequest, type SipResponse, valuesOf } from './message.ts'

export type DialogStart = {
  /** The other side is called, and does not call. */
  isOurs: boolean
  callId: string
  /** The values of From and To with their tags, as we write them. */
  local: string
  localTag: string
  remote: string
  remoteTag: string | null
  target: string
  routes: readonly string[]
  /**
   * Requests go to the address with which the call began, and not to the one in Contact: a message must not make us send
   * to other hosts, and behind NAT the address in Contact is often none that can be reached.
   */
  peer: Peer
  localCseq: number
  remoteCseq: number
  /** The header Contact of ours. */
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

  /** The dialog of a request that we have got, before our answer to it. */
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

  /** The dialog that an answer to our INVITE makes. */
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

  /** A dialog that begins with these values goes on where this one is. */
  now(): DialogStart {
    const [target, localCseq, remoteCseq] = [this.#target, this.#localCseq, this.#remoteCseq]
    return { ...this.start, target, localCseq, remoteCseq }
  }

  /** A request with the next number. */
  draft(method: string, headers: readonly Header[] = [], body = ''): Draft {
    this.#localCseq++
    return this.#draft(method, this.#localCseq, headers, body)
  }

  ack(cseq: number, headers: readonly Header[] = [], body = ''): Draft {
    return this.#draft('ACK', cseq, headers, body)
  }

  /** Whether the request is of this dialog, by its names (RFC 3261, section 12.2.2). */
  isOf({ callId, from, to }: SipRequest): boolean {
    const { start } = this
    return callId === start.callId && to.tag === start.localTag && from.tag === start.remoteTag
  }

  /** False: the request is older than one that we have seen. */
  takes({ cseq }: SipRequest): boolean {
    if (cseq.number <= this.#remoteCseq) return false
    this.#remoteCseq = cseq.number
    return true
  }

  /** The address of the other side, as it names itself. */
  get remoteUri(): string {
    return addressOf(this.start.remote)?.uri ?? ''
  }

  /** The other side says where it wants requests from now on. */
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
