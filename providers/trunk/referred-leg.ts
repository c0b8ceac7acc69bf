/**
 * A call made by another leg's far end at our request (REFER, RFC 3515): a blind transfer over a trunk. The call's
 * audio does not pass through us. The far end reports progress by NOTIFY.
 *
 *   asked ──202──► dialed ──NOTIFY 180──► ringing ──NOTIFY 200──► answered ──► over
 *     └── refusal ────┴── NOTIFY 300..699 ──┴─────────────────────────────────►
 */
import { type LegToDial, PhoneLineError } from '../../domain/ports/phone-line.ts'
import { hostText, type SipUri, sipUriOf } from './address.ts'
import { causeOf } from './causes.ts'
import type { Dialog } from './dialog.ts'
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
      answered: (code) => this.#referAnswered(code),
      progress: (code) => this.#progress(code),
      isUnderWay: () => this.#state !== 'asked' && !this.isOver,
    })
  }

  /** Resolves when the far end has accepted the REFER. Rejects with PhoneLineError. */
  get dialed(): Promise<void> {
    return this.#dialed
  }

  get isAnswered(): boolean {
    return this.#state === 'answered' && !this.isOver
  }

  /**
   * Ends this leg only on our side: the far end cannot be stopped and continues dialling. The caller's leg continues.
   */
  hangUp(): void {
    this.#isDialed(null)
    this.end(null, 'originator_cancel', 'caller')
  }

  /** Resolves when the calling code has received the event `bridged`. */
  connected(): Promise<void> {
    return this.emit({ type: 'bridged' })
  }

  acknowledged(): void {
    // We sent and received no INVITE for this leg, so no ACK is expected.
  }

  /** Handles the response to the REFER. `code` is null if no response arrived. */
  #referAnswered(code: number | null): void {
    if (code !== null && code < 300) return this.#agreed()
    this.#isDialed(new PhoneLineError(code === null ? 'timeout' : 'refused', { sipCode: code }))
    this.end(code ?? 408, code === null ? 'timeout' : causeOf([], code), 'callee')
  }

  #agreed(): void {
    if (this.#state === 'asked') this.#state = 'agreed'
    this.#isDialed(null)
  }

  #progress(code: number): void {
    // A NOTIFY may arrive before the response to the REFER, so it counts as acceptance too.
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

/** Returns the SIP URI to call. Headers for the called person are part of the URI. */
function targetOf(caller: TrunkLeg, { to, headers }: LegToDial): string {
  const own = Object.entries(headers).map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
  const at = hostOf(sipUriOf(caller.dialog?.remoteUri ?? '')) ?? hostOfTrunk(caller)
  return `sip:${to}@${at}${own.length === 0 ? '' : `?${own.join('&')}`}`
}

/**
 * Returns the host in the caller's SIP URI, because the far end can call numbers at this host. Returns null if the URI
 * has no real host because the caller withholds the number (RFC 3323, section 4.1.1.3).
 */
function hostOf(uri: SipUri | null): string | null {
  if (uri === null || noHost.test(uri.host)) return null
  return `${hostText(uri.host)}${uri.port === null ? '' : `:${uri.port}`}`
}

/**
 * Matches hosts used by carriers for a withheld number. The names `invalid` and `localhost` are reserved (RFC 6761).
 */
const noHost = /^(?:anonymous|unknown|unavailable|restricted|private|0\.0\.0\.0|::)$|(?:^|\.)(?:invalid|localhost)\.?$/i

/**
 * Returns the trunk's host for the URI to call. If the trunk is not used for outgoing calls, this is its calls' source
 * address.
 */
function hostOfTrunk({ connection, dialog }: TrunkLeg): string {
  const { host = '', port = null } = connection?.outbound ?? peerOf(dialog)
  return `${hostText(host)}${port === null ? '' : `:${port}`}`
}

/**
 * Returns the other side's address. Over TCP the port is left out: the other side connected from a port without a
 * listening server.
 */
function peerOf(dialog: Dialog | null): { host?: string; port?: number } {
  const { transport, address: host, port } = dialog?.start.peer ?? {}
  if (host === undefined) return {}
  return transport === 'udp' && port !== undefined ? { host, port } : { host }
}
