/**
 * An incoming call over a trunk.
 *
 *   announced ──► ringing ──answer──► answered ──ACK──► talking ──BYE──► over
 *       └────────────┴── reject, CANCEL ──┴─────────────────────────────►
 */
import type { ForwardingFields, RejectCode } from '../../domain/ports/phone-line.ts'
import { uniqueId } from '../../runtime/timing/clock.ts'
import { userOf } from './address.ts'
import type { OpenedLeg } from './awaited-legs.ts'
import { acceptedBodies, sdpIn, unsupported } from './bodies.ts'
import { dialedOf } from './dialed.ts'
import { Dialog } from './dialog.ts'
import { allowedMethods, type LegDeps, sdpType, TrunkLeg } from './leg.ts'
import { LegAudio } from './leg-audio.ts'
import { type Header, type SipRequest, valueOf, valuesOf } from './message.ts'
import { type RemoteAudio, readSdp } from './sdp.ts'
import type { ServerTransaction } from './server-transaction.ts'

type Refusal = { code: number; headers?: readonly Header[] }

export class InboundLeg extends TrunkLeg {
  readonly invite: ServerTransaction
  protected readonly otherSide = 'caller'
  readonly #localTag: string
  readonly #contact: string
  /** The INVITE's SDP offer. If the INVITE has no offer (null), our 200 response contains the offer. */
  readonly #offer: RemoteAudio | null
  #state: 'ringing' | 'answered' | 'talking' = 'ringing'
  #wantsBye = false

  constructor(deps: LegDeps, invite: ServerTransaction, offer: RemoteAudio | null, contact: string) {
    super(deps)
    this.invite = invite
    this.#offer = offer
    this.#contact = contact
    this.#localTag = uniqueId()
    this.dialog = Dialog.ofRequest(invite.request, invite.peer, this.#localTag, contact)
  }

  /** Emits the call's first event. Ringing (180) is sent only after the call is stored. */
  async announce(connectionId: string): Promise<void> {
    const { request } = this.invite
    this.invite.respond(100)
    const [to, from, forwarding] = [dialedOf(request), callerOf(request), forwardingOf(request)]
    try {
      await this.emit({ type: 'initiated', direction: 'incoming', from, to, connectionId, forwarding })
      if (this.#state === 'ringing' && !this.isOver) this.#respond(180)
    } catch {
      this.#refuse(500)
    }
  }

  async answer(leg: OpenedLeg): Promise<void> {
    const { deps } = this
    const { address: signalingAddress } = this.invite.source
    const rtp = await deps.rtp.open({ ...leg, signalingAddress, dtmf: (digit) => this.pressed(digit) })
    if (this.isOver || this.#state !== 'ringing') return rtp.close()
    this.#state = 'answered'
    const audio = new LegAudio(rtp, { address: deps.publicAddress, port: rtp.port, id: deps.clock.nowMs() })
    this.audio = audio
    deps.keep(this)
    this.invite.respond(200, {
      toTag: this.#localTag,
      headers: [['contact', this.#contact], allowedMethods, sdpType],
      body: this.#offer === null ? audio.offer() : audio.answer(this.#offer),
      // If no ACK arrives, the caller has not received our 200 response, so the call ends.
      unacknowledged: () => this.bye('timeout'),
    })
  }

  acknowledged(request: SipRequest): void {
    if (this.isOver || this.#state === 'ringing') return
    // An ACK has the same sequence number as its INVITE (RFC 3261, section 17.1.1.3).
    if (this.#state === 'answered' && request.cseq.number !== this.invite.request.cseq.number) return
    if (this.#state === 'talking') return this.reinviteAcknowledged(request)
    this.invite.acknowledged()
    this.#state = 'talking'
    if (this.#wantsBye) return this.bye('normal_clearing')
    void this.emit({ type: 'answered' }).catch(() => {})
    if (this.begin(this.#offer ?? this.answerIn(request))) return
    void this.emit({ type: 'stream_failed', reason: 'the audio of the trunk is in no known encoding' }).catch(() => {})
    this.bye('unspecified')
  }

  /** Handles the caller's CANCEL before the call is answered. */
  cancelled(): void {
    if (this.isOver) return
    this.#respond(487)
    this.end(487, 'originator_cancel', 'caller')
  }

  reject(code: RejectCode): void {
    this.#refuse(code)
  }

  hangUp(): void {
    if (this.#state === 'ringing') return this.#refuse(480)
    // The BYE must wait for the ACK, because before the ACK the call has not begun for the other side.
    if (this.#state === 'answered') this.#wantsBye = true
    else this.bye('normal_clearing')
  }

  #refuse(code: number): void {
    if (this.isOver) return
    this.#respond(code)
    this.end(code, 'call_rejected', 'callee')
  }

  #respond(code: number): void {
    this.invite.respond(code, { toTag: this.#localTag, headers: code === 180 ? [['contact', this.#contact]] : [] })
  }
}

/**
 * Reads the INVITE's SDP offer. `offer` is null if the INVITE has no offer: our 200 response then contains the offer.
 * `refusal` is our response if the offer cannot be accepted.
 */
export function offerIn(request: SipRequest): { offer: RemoteAudio | null; refusal: Refusal | null } {
  const sdp = sdpIn(request)
  if (sdp === unsupported) return { offer: null, refusal: { code: 415, headers: [acceptedBodies] } }
  const offer = sdp === null ? null : readSdp(sdp)
  return { offer, refusal: sdp !== null && offer === null ? { code: 488 } : null }
}

/**
 * Returns the caller's number, or null if the number is withheld. The carrier's asserted number is preferred to From,
 * because the caller can choose From.
 */
function callerOf({ headers, from }: SipRequest): string | null {
  const privacy = valueOf(headers, 'privacy') ?? ''
  if (/\b(id|user|header)\b/i.test(privacy) || /\banonymous\b/i.test(from.uri)) return null
  const [asserted] = valuesOf(headers, 'p-asserted-identity').map((text) => /<([^<>]+)>/.exec(text)?.[1] ?? text)
  return userOf(asserted ?? from.uri) ?? userOf(from.uri)
}

function forwardingOf({ headers }: SipRequest): ForwardingFields {
  return {
    forwardedFrom: null,
    originalTo: null,
    redirectingNumber: null,
    diversion: valuesOf(headers, 'diversion'),
    historyInfo: valuesOf(headers, 'history-info'),
    privacy: valuesOf(headers, 'privacy'),
  }
}
