/**
 * An outgoing call over a trunk.
 *
 *   calling ──1xx──► dialed ──180──► ringing ──200──► talking ──BYE──► over
 *      └── refusal ─────┴── refusal, CANCEL ──┴────────────────────────►
 */
import { type ForwardingFields, type LegToDial, PhoneLineError } from '../../domain/ports/phone-line.ts'
import { uniqueId } from '../../runtime/timing/clock.ts'
import type { Peer } from './address.ts'
import { Authentication } from './authentication.ts'
import { causeOf } from './causes.ts'
import type { ClientTransaction, Draft } from './client-transaction.ts'
import { Dialog } from './dialog.ts'
import { allowedMethods, type LegDeps, sdpType, TrunkLeg } from './leg.ts'
import type { LegAudio } from './leg-audio.ts'
import type { Header, SipRequest, SipResponse } from './message.ts'
import { namesOf } from './outbound-names.ts'
import type { RemoteAudio } from './sdp.ts'
import { isOfPerson, saysInvite } from './trunk-answers.ts'

const notForwarded: ForwardingFields = {
  ...{ forwardedFrom: null, originalTo: null, redirectingNumber: null },
  ...{ diversion: [], historyInfo: [], privacy: [] },
}

export type OutboundTarget = {
  peer: Peer
  /** The connection's host name. It is used as the host in the called URI. */
  host: string
}

export type OutboundDeps = LegDeps & {
  contact: string
  target: OutboundTarget
  /** Called once, at the first response showing if the trunk accepts calls. */
  noteAnswer: (takesCalls: boolean) => void
}

export class OutboundLeg extends TrunkLeg {
  protected readonly otherSide = 'callee'
  readonly #target: OutboundTarget
  readonly #leg: LegToDial
  readonly #contact: string
  readonly #offer: string
  readonly #callId = uniqueId()
  readonly #localTag = uniqueId()
  readonly #dialed: Promise<void>
  readonly #authentication: Authentication
  #isDialed: (error: PhoneLineError | null) => void = () => {}
  #draft: Draft
  #transaction: ClientTransaction
  #cseq = 1
  /** The newest SDP answer in a provisional response. The To tag identifies the phone that sent the SDP. */
  #early: { tag: string | null; remote: RemoteAudio } | null = null
  #state: 'calling' | 'dialed' | 'ringing' | 'talking' = 'calling'
  /** The reason if we ended the unanswered call, otherwise null. */
  #givenUp: 'timeout' | 'originator_cancel' | null = null
  #cancelRinging = () => {}
  #noteAnswer: (takesCalls: boolean) => void

  constructor(deps: OutboundDeps, leg: LegToDial, audio: LegAudio) {
    super(deps)
    this.legId = leg.legId
    this.audio = audio
    this.#offer = audio.offer()
    this.#leg = leg
    this.#target = deps.target
    this.#contact = deps.contact
    this.#noteAnswer = deps.noteAnswer
    this.#authentication = new Authentication(deps.credentials)
    this.#dialed = new Promise((resolve, reject) => {
      this.#isDialed = (error) => (error === null ? resolve() : reject(error))
    })
    this.#dialed.catch(() => {})
    this.#draft = this.#invite([])
    this.#transaction = this.#send()
    this.#cancelRinging = deps.clock.after(leg.ringingTimeoutS * 1000, () => this.#giveUp('timeout'))
    this.limit(leg.timeLimitS)
  }

  /** Resolves when the trunk has accepted the call. Rejects with PhoneLineError. */
  get dialed(): Promise<void> {
    return this.#dialed
  }

  hangUp(): void {
    if (this.#state === 'talking') this.bye('normal_clearing')
    else this.#giveUp('originator_cancel')
  }

  acknowledged(request: SipRequest): void {
    this.reinviteAcknowledged(request)
  }

  #giveUp(reason: 'timeout' | 'originator_cancel'): void {
    if (this.isOver || this.#state === 'talking' || this.#givenUp !== null) return
    this.#givenUp = reason
    this.#cancelRinging()
    this.#transaction.cancel()
  }

  #invite(more: readonly Header[]): Draft {
    const { from, to, headers } = this.#leg
    const { publicAddress, connection } = this.deps
    const names = namesOf(connection, { from, to, publicAddress, target: this.#target })
    const own = Object.entries(headers).filter(([name]) => /^(x-[a-z0-9-]+|user-to-user)$/i.test(name))
    return {
      method: 'INVITE',
      uri: names.uri,
      headers: [
        ['from', `${names.from};tag=${this.#localTag}`],
        ['to', names.to],
        ['call-id', this.#callId],
        ['cseq', `${this.#cseq} INVITE`],
        ['contact', this.#contact],
        ...names.identity,
        allowedMethods,
        ...own.map(([name, value]): Header => [name.toLowerCase(), value]),
        ...more,
        sdpType,
      ],
      body: this.#offer,
    }
  }

  #send(): ClientTransaction {
    return this.deps.transactions.request(this.#draft, this.#target.peer, {
      response: (response) => this.#response(response),
      timeout: () => this.#refused(null, 'timeout'),
    })
  }

  #says(code: number | null): void {
    const takesCalls = saysInvite(code)
    if (takesCalls === null) return
    this.#noteAnswer(takesCalls)
    this.#noteAnswer = () => {}
  }

  #response(response: SipResponse): void {
    const { code } = response
    if (code < 300) this.#says(code)
    if (code < 200) return this.#provisional(response)
    if (code < 300) return this.#answered(response)
    const login = this.#givenUp === null ? this.#authentication.answer(response, this.#draft) : null
    if (login !== null) return this.#sendAgain(login)
    this.#refused(code, this.#givenUp ?? causeOf(response.headers, code))
  }

  /**
   * Stores the INVITE. The trunk has received the call, so another process must be able to cancel it if this process
   * dies.
   */
  #keepInvite(): void {
    const { sent } = this.#transaction
    if (this.sentInvite?.branch === sent.branch) return
    this.sentInvite = { ...sent, localTag: this.#localTag, contact: this.#contact }
    this.deps.keep(this)
  }

  #provisional(response: SipResponse): void {
    const { code } = response
    this.#keepInvite()
    const remote = this.answerIn(response)
    if (remote !== null) this.#early = { tag: response.to.tag, remote }
    if (this.#state === 'calling') this.#initiated()
    if (code < 180 || code === 181 || code === 182 || this.#state !== 'dialed') return
    this.#state = 'ringing'
    void this.emit({ type: 'ringing' }).catch(() => {})
  }

  /**
   * Returns the SDP answer from a provisional response, because the final response need not repeat it (RFC 3261,
   * section 13.2.1).
   */
  #earlyOf({ to }: SipResponse): RemoteAudio | null {
    return this.#early?.tag === to.tag ? this.#early.remote : null
  }

  /** Emits the event for a call accepted by the trunk. */
  #initiated(): void {
    const { from, to, connectionId } = this.#leg
    this.#state = 'dialed'
    this.#isDialed(null)
    const of = { direction: 'outgoing', from, to, ...(connectionId !== undefined && { connectionId }) } as const
    void this.emit({ type: 'initiated', ...of, forwarding: notForwarded }).catch(() => {})
  }

  #sendAgain(login: Header): void {
    this.#cseq++
    this.#draft = this.#invite([login])
    this.#transaction = this.#send()
  }

  #answered(response: SipResponse): void {
    const dialog = Dialog.ofResponse(response, this.#draft, this.#localTag, this.#target.peer, this.#contact)
    this.deps.transactions.acknowledge(dialog.ack(response.cseq.number, this.#credentialsOfInvite()), this.#target.peer)
    if (this.dialog !== null) {
      // A proxy may ring two phones. If both phones answer, the second phone's call is ended.
      if (this.dialog.start.remoteTag !== response.to.tag) this.#leave(dialog)
      return
    }
    this.#cancelRinging()
    if (this.isOver) return this.#leave(dialog)
    this.dialog = dialog
    if (this.#state === 'calling') this.#initiated()
    this.#state = 'talking'
    this.deps.keep(this)
    if (this.#givenUp !== null) return this.bye(this.#givenUp)
    void this.emit({ type: 'answered' }).catch(() => {})
    if (this.begin(this.answerIn(response) ?? this.#earlyOf(response))) return
    void this.emit({ type: 'stream_failed', reason: 'the audio of the trunk is in no known encoding' }).catch(() => {})
    this.bye('unspecified')
  }

  /**
   * Returns the login headers for the ACK, because it must contain the same login as its INVITE (RFC 3261, section
   * 22.1).
   */
  #credentialsOfInvite(): Header[] {
    return this.#draft.headers.filter(([name]) => name === 'authorization' || name === 'proxy-authorization')
  }

  #leave(dialog: Dialog): void {
    this.deps.transactions.request(dialog.draft('BYE'), this.#target.peer, { response: () => {}, timeout: () => {} })
  }

  /** Ends a refused call. `code` is null if no response arrived. */
  #refused(code: number | null, cause: string): void {
    this.#cancelRinging()
    if (this.isOver) return
    if (this.#givenUp === null) this.#says(code)
    if (this.#state === 'calling' && this.#givenUp === null && !isOfPerson(code))
      this.#isDialed(new PhoneLineError(code === null ? 'timeout' : 'refused', { sipCode: code }))
    else this.#isDialed(null)
    this.end(code ?? 408, cause, this.#givenUp === null ? 'callee' : 'caller')
  }
}
