/**
 * The calls that the far end of a dialog was asked to make (REFER, RFC 3515), and to which of them its news belong: after a
 * first transfer that nobody has answered, the far end may still tell how that one goes while a second one is under way.
 */
import { type SipRequest, valueOf } from './message.ts'

/** The far end is asked to call somebody, by REFER. */
export type Referral = {
  /** Its answer. Null: it has none. */
  answered(code: number | null): void
  /** The answer of the person that it calls. */
  progress(code: number): void
  /** The far end has agreed, and the call that it makes is not known to be over. */
  isUnderWay(): boolean
}

/** `cseq`: the number of the REFER that was agreed to. Null: it was not answered yet. */
type Sent = { referral: Referral; cseq: number | null; hasLastNews: boolean }

/** Transfers of one call. The news of older ones are refused. */
const sentMax = 16

export class Referrals {
  readonly #sent: Sent[] = []

  get newest(): Referral | null {
    return this.#sent.at(-1)?.referral ?? null
  }

  add(referral: Referral): Sent {
    const sent: Sent = { referral, cseq: null, hasLastNews: false }
    this.#sent.push(sent)
    if (this.#sent.length > sentMax) this.#sent.shift()
    return sent
  }

  /** The far end has agreed, or brings no news. */
  answered(sent: Sent, code: number, cseq: number): void {
    sent.cseq = cseq
    if (code >= 300) sent.hasLastNews = true
  }

  /** The far end has not answered, so news without a number are not those of this call. */
  unanswered(sent: Sent): void {
    sent.hasLastNews = true
  }

  /** The referral that a NOTIFY belongs to. Null: it belongs to none. */
  notified(request: SipRequest): Referral | null {
    const event = valueOf(request.headers, 'event') ?? ''
    if (!/^refer\b/i.test(event)) return null
    const [, id] = /;[ \t]*id[ \t]*=[ \t]*(\d{1,10})\b/i.exec(event) ?? []
    const sent = id === undefined ? this.#withoutId() : this.#withId(Number(id))
    if (sent === undefined) return null
    const code = codeOfNews(request)
    const hasEnded = /^terminated\b/i.test(valueOf(request.headers, 'subscription-state') ?? '')
    if (hasEnded || (code !== null && code >= 200)) sent.hasLastNews = true
    return sent.referral
  }

  /** News may come before the answer to the REFER, whose number is not known then. */
  #withId(id: number): Sent | undefined {
    const newest = this.#sent.at(-1)
    return this.#sent.find(({ cseq }) => cseq === id) ?? (newest?.cseq === null ? newest : undefined)
  }

  /** The first REFER of a dialog needs no id (RFC 3515, section 2.4.6), and many far ends never name one. */
  #withoutId(): Sent | undefined {
    return this.#sent.find(({ hasLastNews }) => !hasLastNews) ?? this.#sent.at(-1)
  }
}

/** News have the first line of the newest answer (RFC 3515, section 2.4.5). Null: they have none. */
export function codeOfNews({ body }: SipRequest): number | null {
  const [, code] = /^SIP\/2\.0 ([1-6]\d\d)\b/.exec(body) ?? []
  return code === undefined ? null : Number(code)
}
