/**
 * Stores a dialog's REFER requests (RFC 3515) and finds the right REFER for each NOTIFY. After an unanswered first
 * transfer, its NOTIFY requests may still arrive during a second transfer.
 */
import { type SipRequest, valueOf } from './message.ts'

/** A REFER request: it asks the far end to call another address. */
export type Referral = {
  /** Called with the far end's response to the REFER, or with null if no response arrived. */
  answered(code: number | null): void
  /** Called with the SIP code from the called person's phone. */
  progress(code: number): void
  /** True if the far end has accepted the REFER and has not yet reported the new call's end. */
  isUnderWay(): boolean
}

/**
 * `cseq` is the REFER's sequence number, or null before its response. `hasLastNews` is true after this REFER's last
 * NOTIFY: no later NOTIFY without an id belongs to it.
 */
type Sent = { referral: Referral; cseq: number | null; hasLastNews: boolean }

/** The maximum number of remembered transfers in one call. A NOTIFY for an older transfer is refused. */
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

  /** Records the response. If the far end refused the REFER, it sends no NOTIFY. */
  answered(sent: Sent, code: number, cseq: number): void {
    sent.cseq = cseq
    if (code >= 300) sent.hasLastNews = true
  }

  /** Records a REFER without a response, so a NOTIFY without an id does not belong to this REFER. */
  unanswered(sent: Sent): void {
    sent.hasLastNews = true
  }

  /** Returns the referral for a NOTIFY, or null if the NOTIFY matches no referral. */
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

  /**
   * Finds the REFER by its sequence number. If a NOTIFY arrives before the response to its REFER, the number is still
   * unknown: the NOTIFY then belongs to the newest REFER.
   */
  #withId(id: number): Sent | undefined {
    const newest = this.#sent.at(-1)
    return this.#sent.find(({ cseq }) => cseq === id) ?? (newest?.cseq === null ? newest : undefined)
  }

  /**
   * Finds the REFER for a NOTIFY without an id. A dialog's first REFER needs no id (RFC 3515, section 2.4.6), and many
   * far ends never send an id.
   */
  #withoutId(): Sent | undefined {
    return this.#sent.find(({ hasLastNews }) => !hasLastNews) ?? this.#sent.at(-1)
  }
}

/**
 * Returns the SIP code from the called person's newest response: a NOTIFY contains its status line (RFC 3515, section
 * 2.4.5). Returns null if there is no status line.
 */
export function codeOfNews({ body }: SipRequest): number | null {
  const [, code] = /^SIP\/2\.0 ([1-6]\d\d)\b/.exec(body) ?? []
  return code === undefined ? null : Number(code)
}
