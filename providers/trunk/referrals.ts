/**
 * Keeps a dialog's REFER requests (RFC 3515) and finds the right REFER for each NOTIFY. After an unanswered first
 * transfer, its NOTIFY requests may still come while a second transfer is under way.
 */
import { type SipRequest, valueOf } from './message.ts'

/** A REFER: the far end is asked to call somebody. */
export type Referral = {
  /** Called with the far end's answer to the REFER. Null: no answer came. */
  answered(code: number | null): void
  /** Called with the called person's answer. */
  progress(code: number): void
  /** True: the far end has accepted the REFER, and its call is not known to be over. */
  isUnderWay(): boolean
}

/**
 * `cseq` is the answered REFER's number. Null: the REFER is not answered yet. `hasLastNews`: no NOTIFY without an id
 * belongs to this REFER any more.
 */
type Sent = { referral: Referral; cseq: number | null; hasLastNews: boolean }

/** Transfers in one call. A NOTIFY for an older transfer is refused. */
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

  /** The far end has accepted the REFER, or refused it and sends no NOTIFY. */
  answered(sent: Sent, code: number, cseq: number): void {
    sent.cseq = cseq
    if (code >= 300) sent.hasLastNews = true
  }

  /** The REFER got no answer, so a NOTIFY without an id does not belong to it. */
  unanswered(sent: Sent): void {
    sent.hasLastNews = true
  }

  /** The referral for a NOTIFY. Null: the NOTIFY matches no referral. */
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

  /** A NOTIFY may come before the answer to its REFER, when the number is still unknown. */
  #withId(id: number): Sent | undefined {
    const newest = this.#sent.at(-1)
    return this.#sent.find(({ cseq }) => cseq === id) ?? (newest?.cseq === null ? newest : undefined)
  }

  /** A dialog's first REFER needs no id (RFC 3515, section 2.4.6), and many far ends never send one. */
  #withoutId(): Sent | undefined {
    return this.#sent.find(({ hasLastNews }) => !hasLastNews) ?? this.#sent.at(-1)
  }
}

/** A NOTIFY contains the first line of the newest answer (RFC 3515, section 2.4.5). Null: it contains no such line. */
export function codeOfNews({ body }: SipRequest): number | null {
  const [, code] = /^SIP\/2\.0 ([1-6]\d\d)\b/.exec(body) ?? []
  return code === undefined ? null : Number(code)
}
