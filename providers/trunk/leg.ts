/**
 * A call leg over a trunk, with the common parts for inbound and outbound legs: dialog, audio, and the other side's
 * requests during the call.
 */
import type { LegEvent, LegEventBody } from '../../domain/ports/phone-line.ts'
import type { SipConnection } from '../../domain/ports/sip-connections.ts'
import type { Clock, Log } from '../../domain/ports/system.ts'
import { acceptedBodies, sdpIn, unsupported } from './bodies.ts'
import { causeOf } from './causes.ts'
import type { SentRequest } from './client-transaction.ts'
import type { Dialog } from './dialog.ts'
import type { Credentials } from './digest.ts'
import { FarEndWatch } from './far-end-watch.ts'
import { sendInDialog } from './in-dialog.ts'
import { infoBodies, keysIn } from './info-keys.ts'
import type { LegAudio } from './leg-audio.ts'
import type { Header, SipMessage, SipRequest } from './message.ts'
import { codeOfNews, type Referral, Referrals } from './referrals.ts'
import type { RtpLeg, RtpPorts } from './rtp-ports.ts'
import type { RemoteAudio } from './sdp.ts'
import type { ServerTransaction } from './server-transaction.ts'
import type { Transactions } from './transactions.ts'

export type LegDeps = {
  clock: Clock
  log: Log
  /** Each id begins with this process's prefix, so that a later process can distinguish its legs from ours. */
  newId: () => string
  transactions: Transactions
  rtp: RtpPorts
  /** Our public address. SDP contains it, so the other side sends its audio to this address. */
  publicAddress: string
  /** The login for our requests, or null if the trunk requires no login. */
  credentials: Credentials | null
  received: (event: LegEvent) => Promise<void>
  farEndQuietMs: number
  /** The leg's connection. Null if another leg's far end makes this call (REFER). */
  connection: SipConnection | null
  /**
   * Stores the leg's dialog, or its INVITE before there is a dialog, so that another process can end the leg if this
   * process dies.
   */
  keep(leg: TrunkLeg): void
  /** Called when the leg is over and can be forgotten. */
  over(leg: TrunkLeg): void
}

/**
 * The sent INVITE, to cancel an unanswered call. Also contains the values for a dialog, in case a 200 response still
 * arrives.
 */
export type SentInvite = SentRequest & { localTag: string; contact: string }

export type EndedBy = 'caller' | 'callee' | 'unknown'

/**
 * How long to wait for a NOTIFY after the far end has accepted our REFER and sent BYE. A later NOTIFY is not expected.
 */
const lastNewsMs = 2_000
/**
 * How long the leg still exists after the transferred call is answered, so that the calling code can handle the answer.
 */
const bridgedMs = 5_000

export const allowedMethods: Header = ['allow', 'INVITE, ACK, CANCEL, BYE, OPTIONS, NOTIFY, INFO']
export const sdpType: Header = ['content-type', 'application/sdp']

export abstract class TrunkLeg {
  readonly carrierLegId: string
  /** The leg's id. Null until the calling code sets the id. */
  legId: string | null = null
  dialog: Dialog | null = null
  /** Our INVITE. Null before its first response. */
  sentInvite: SentInvite | null = null
  protected readonly deps: LegDeps
  protected audio: LegAudio | null = null
  #events = 0
  #tail: Promise<void> = Promise.resolve()
  #isOver = false
  #hasStream = false
  #cancelLimit = () => {}
  #watch: FarEndWatch | null = null
  readonly #referrals = new Referrals()
  /** Ends the leg that is kept open after the other side's BYE. Null if the other side has sent no BYE. */
  #finish: (() => void) | null = null

  constructor(deps: LegDeps) {
    this.deps = deps
    this.carrierLegId = deps.newId()
  }

  get organizationId(): string | null {
    return this.deps.connection?.organizationId ?? null
  }

  protected abstract readonly otherSide: EndedBy
  /** Ends the leg from our side. */
  abstract hangUp(): void

  get isOver(): boolean {
    return this.#isOver
  }

  get connection(): SipConnection | null {
    return this.deps.connection
  }

  /**
   * Sends DTMF keys to the other side. Returns false if the leg has no audio, or if the other side cannot receive audio
   * now.
   */
  sendDtmf(digits: string): boolean {
    return this.audio?.rtp.sendDtmf(digits) ?? false
  }

  /** Connects both legs' audio. Returns false if a leg is over or has no audio here. */
  connect(other: TrunkLeg): boolean {
    if (this.audio === null || other.audio === null || this.#isOver || other.#isOver) return false
    this.audio.rtp.connect(other.audio.rtp)
    for (const leg of [this, other]) void leg.emit({ type: 'bridged' }).catch(() => {})
    return true
  }

  /** Asks the other side by REFER to call another SIP URI. */
  refer(uri: string, referral: Referral): void {
    const { dialog } = this
    if (dialog === null || this.#isOver) return referral.answered(481)
    const sent = this.#referrals.add(referral)
    const headers: Header[] = [
      ['refer-to', `<${uri}>`],
      ['referred-by', dialog.start.contact],
    ]
    sendInDialog(
      this.deps,
      dialog,
      { method: 'REFER', headers },
      {
        response: ({ code, cseq }) => {
          if (code < 200) return
          this.#referrals.answered(sent, code, cseq.number)
          referral.answered(code)
        },
        timeout: () => {
          this.#referrals.unanswered(sent)
          referral.answered(null)
        },
      },
    )
  }

  /** Emits the event for a DTMF key from the other side. */
  pressed(digit: string): void {
    void this.emit({ type: 'dtmf', digit }).catch(() => {})
  }

  /** Handles the other side's request in the dialog. */
  request(transaction: ServerTransaction): void {
    const { request } = transaction
    if (this.#isOver || this.dialog?.takes(request) !== true) return transaction.respond(this.#isOver ? 481 : 500)
    switch (request.method) {
      case 'BYE':
        transaction.respond(200)
        return this.#left(causeOf(request.headers, null))
      case 'INVITE':
        return this.#reinvited(transaction, request)
      case 'OPTIONS':
        return transaction.respond(200, { headers: [allowedMethods] })
      case 'NOTIFY':
        return this.#notified(transaction)
      case 'INFO':
        return this.#informed(transaction)
      case 'REFER':
        // A REFER from the far end is declined, because a far end must not make us call other parties.
        return transaction.respond(603)
      default:
        return transaction.respond(405, { headers: [allowedMethods] })
    }
  }

  /** Handles the ACK to our 200 response. */
  abstract acknowledged(request: SipRequest): void

  /** Emits an event. Events are delivered one after another, in order. */
  protected emit(body: LegEventBody): Promise<void> {
    const id = `${this.carrierLegId}.${this.#events++}`
    const head = { id, occurredAtMs: this.deps.clock.nowMs(), carrierLegId: this.carrierLegId }
    const done = this.#tail.then(() => this.deps.received({ ...head, legId: this.legId, ...body }))
    this.#tail = done.catch((err: unknown) => {
      this.deps.log.warn({ err, type: body.type }, 'an event of a leg over a trunk was not stored')
    })
    return done
  }

  /** Starts the audio. Returns false if the other side's description contains no usable audio. */
  protected begin(remote: RemoteAudio | null): boolean {
    if (remote === null || this.audio === null) return false
    this.audio.start(remote)
    this.#hasStream = true
    this.#watch = this.#watched(this.audio.rtp)
    void this.emit({ type: 'stream_started' }).catch(() => {})
    return true
  }

  #watched(rtp: RtpLeg): FarEndWatch {
    const { clock, farEndQuietMs: quietMaxMs } = this.deps
    const gone = () => this.bye('far_end_gone', 'unknown')
    return new FarEndWatch({
      clock,
      quietMaxMs,
      quietMs: () => rtp.quietMs,
      packets: () => rtp.packets,
      ask: (answered) => this.#ask(answered),
      gone,
    })
  }

  /** Asks by OPTIONS if the other side still has the call. `answered` receives null if no response arrived. */
  #ask(answered: (code: number | null) => void): void {
    if (this.dialog === null) return
    const response = ({ code }: { code: number }) => {
      if (code >= 200) answered(code)
    }
    sendInDialog(this.deps, this.dialog, { method: 'OPTIONS' }, { response, timeout: () => answered(null) })
  }

  protected limit(seconds: number): void {
    this.#cancelLimit()
    this.#cancelLimit = this.deps.clock.after(seconds * 1000, () => this.hangUp())
  }

  /** Sends BYE. The leg is over at once, even if no response arrives. */
  protected bye(cause: string, by: EndedBy = this.otherSide === 'caller' ? 'callee' : 'caller'): void {
    const { dialog } = this
    if (dialog === null || this.#isOver) return
    if (this.#finish !== null) return this.#finish()
    sendInDialog(this.deps, dialog, { method: 'BYE' }, { response: () => {}, timeout: () => {} })
    this.end(null, cause, by)
  }

  protected end(sipCode: number | null, cause: string, by: EndedBy): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#cancelLimit()
    this.#watch?.stop()
    const { audio } = this
    if (this.#hasStream) void this.emit({ type: 'stream_stopped' }).catch(() => {})
    // The hang-up event must be emitted before the audio ends, because the end of the audio alone would count as a lost
    // leg.
    void this.emit({ type: 'hangup', sipCode, cause, by })
      .catch(() => {})
      .finally(() => audio?.rtp.close())
    this.deps.over(this)
  }

  /**
   * Handles the other side's BYE. If the other side is making a call for us (REFER), its BYE ends this dialog but not
   * the NOTIFY requests about the new call (RFC 5057). Many trunks send no NOTIFY after BYE. If a trunk accepted the
   * REFER and then sent BYE, it has connected the caller to the new call. So the new call counts as answered if no
   * NOTIFY arrives. This leg is kept until the calling code has handled the answer.
   */
  #left(cause: string): void {
    if (this.#finish !== null) return
    const finish = () => this.end(null, cause, this.otherSide)
    const referral = this.#referrals.newest
    if (referral?.isUnderWay() !== true) return finish()
    this.#finish = finish
    this.deps.clock.after(lastNewsMs, () => {
      if (!referral.isUnderWay()) return finish()
      referral.progress(200)
      this.deps.clock.after(bridgedMs, finish)
    })
  }

  /**
   * Handles a NOTIFY. Its body contains the status line from the referred call's newest response (RFC 3515, section
   * 2.4.5).
   */
  #notified(transaction: ServerTransaction): void {
    const referral = this.#referrals.notified(transaction.request)
    if (referral === null) return transaction.respond(481)
    transaction.respond(200)
    const code = codeOfNews(transaction.request)
    if (code === null) return
    referral.progress(code)
    if (this.#referrals.newest?.isUnderWay() === false) this.#finish?.()
  }

  #informed(transaction: ServerTransaction): void {
    const keys = keysIn(transaction.request)
    if (keys === null) return transaction.respond(415, { headers: [infoBodies] })
    transaction.respond(200)
    for (const key of keys) {
      if (this.audio === null) this.pressed(key)
      else this.audio.rtp.pressed(key, 'info')
    }
  }

  /** Handles a re-INVITE: the other side holds the call, resumes it, or moves its audio. */
  #reinvited(transaction: ServerTransaction, request: SipRequest): void {
    const { audio, dialog } = this
    if (audio === null || dialog === null) return transaction.respond(491)
    const sdp = sdpIn(request)
    if (sdp === unsupported) return transaction.respond(415, { headers: [acceptedBodies] })
    const offer = sdp === null ? null : audio.offered(sdp)
    if (sdp !== null && offer === null) return transaction.respond(488)
    dialog.retarget(request)
    this.deps.keep(this)
    transaction.respond(200, {
      toTag: dialog.start.localTag,
      headers: [['contact', dialog.start.contact], allowedMethods, sdpType],
      body: offer === null ? audio.offer() : audio.answer(offer),
      unacknowledged: () => this.bye('timeout'),
    })
    if (offer !== null) audio.start(offer)
    this.reinvite = transaction
  }

  /** The re-INVITE answered by us, until its ACK arrives. Null if no ACK is missing. */
  protected reinvite: ServerTransaction | null = null

  /** Handles the ACK to a re-INVITE. If our response contained an offer, the ACK contains the SDP answer. */
  protected reinviteAcknowledged(request: SipRequest): void {
    if (this.reinvite?.request.cseq.number !== request.cseq.number) return
    this.reinvite.acknowledged()
    this.reinvite = null
    const answer = this.answerIn(request)
    if (answer !== null) this.audio?.start(answer)
  }

  /** Returns the SDP answer to our offer, or null if the message contains no usable answer. */
  protected answerIn(message: SipMessage): RemoteAudio | null {
    const sdp = sdpIn(message)
    return sdp === null || sdp === unsupported ? null : (this.audio?.answered(sdp) ?? null)
  }
}
