/**
 * A call that the far end of another leg makes because we have asked it to (REFER, RFC 3515): a blind transfer over a
 * trunk. It has no audio here. The far end says by NOTIFY how it goes.
 *
 *   asked ──202──► dialed ──NOTIFY 180──► ringing ──NOTIFY 200──► answered ──► over
 *     └── refusal ────┴── NOTIFY 300..699 ──┴─────────────────────────────────►
 */
import { type LegToDial, PhoneLineError } from '../../domain/ports/phone-line.ts'
import { hostText, sipUriOf } from './address.ts'
import { causeOf } from './causes.ts'
import { type LegDeps, TrunkLeg } from './leg.ts'

export class ReferredLeg extends TrunkLeg {
  protected readonly otherSide = 'callee'
  readonly #dialed: Promise<void>
  #isDialed: (error: PhoneLineError | null) => void = () => {}
  #state: 'asked' | 'agreed' | 'ringing' | 'answered' = 'asked'

  constructor(deps: LegDeps, caller: TrunkLeg, leg: LegToDial) {
    super(deps)
    this.legId = leg.legId
    this.#dialed = new Promise((resolve, reject) => {
      this.#isDialed = (error) => (error === null ? resolve() : reject(error))
    })
    this.#dialed.catch(() => {})
    caller.refer(targetOf(caller, leg), {
      answered: (code) => this.#asked(code),
      progress: (code) => this.#progress(code),
      isUnderWay: () => this.#state !== 'asked' && !this.isOver,
    })
  }

  /** Resolves when the far end has taken the order. Rejects with PhoneLineError. */
  get dialed(): Promise<void> {
    return this.#dialed
  }

  get isAnswered(): boolean {
    return this.#state === 'answered' && !this.isOver
  }

  /** The far end cannot be stopped: it dials on, and its caller is back here. */
  hangUp(): void {
    this.#isDialed(null)
    this.end(null, 'originator_cancel', 'caller')
  }

  /** Resolves when the calling code knows that the two talk to each other. */
  connected(): Promise<void> {
    return this.emit({ type: 'bridged' })
  }

  acknowledged(): void {
    // It has no INVITE of ours.
  }

  /** Null: nobody has answered. */
  #asked(code: number | null): void {
    if (code !== null && code < 300) return this.#agreed()
    this.#isDialed(new PhoneLineError(code === null ? 'timeout' : 'refused', { sipCode: code }))
    this.end(code ?? 408, code === null ? 'timeout' : causeOf([], code), 'callee')
  }

  #agreed(): void {
    if (this.#state === 'asked') this.#state = 'agreed'
    this.#isDialed(null)
  }

  #progress(code: number): void {
    // The far end may tell how it goes before its answer has come.
    this.#agreed()
    if (this.isOver || this.#state === 'answered') return
    if (code >= 300) return this.end(code, causeOf([], code), 'callee')
    if (code >= 200) {
      this.#state = 'answered'
      void this.emit({ type: 'answered' }).catch(() => {})
    } else if (code >= 180 && this.#state === 'agreed') {
      this.#state = 'ringing'
      void this.emit({ type: 'ringing' }).catch(() => {})
    }
  }
}

/** The far end knows the number at its own host. Headers for the person who is called are parts of the address. */
function targetOf(caller: TrunkLeg, { to, headers }: LegToDial): string {
  const uri = sipUriOf(caller.dialog?.remoteUri ?? '')
  const at = uri === null ? '' : `${hostText(uri.host)}${uri.port === null ? '' : `:${uri.port}`}`
  const own = Object.entries(headers).map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
  return `sip:${to}@${at}${own.length === 0 ? '' : `?${own.join('&')}`}`
}
