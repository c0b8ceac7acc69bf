/**
 * A circuit breaker that records which organizations' attempts failed.
 *
 * A request can make its own attempt fail, so on a server with several organizations one organization alone must not
 * open the circuit for all. A failure counts only if the failure before it came from another organization, without a
 * success in between. Here `a` and `b` are failures of two organizations, and ✓ is a success:
 *
 *   b b b b   does not count          b b a b   counts twice          b a ✓ b   does not count
 *
 * For the same reason the probe goes to an organization without failures if possible: failing organizations must wait
 * `probeGraceMs` longer than the others. An organization without failures need not wait while a failing organization
 * probes. A failed probe opens the circuit again only if the failure before it came from another organization.
 */
import { type Circuit, type CircuitEvent, type CircuitLimits, closed, move } from './circuit.ts'

/** Returns true if this server has several organizations. */
export type AreSeveral = () => boolean
/** Marks one attempt as the probe. Two probes are compared by object identity. */
export type Probe = { readonly organizationId: string }

const probeGraceMs = 1000
/**
 * The maximum number of failing organizations in memory. Any further organization counts as an organization without
 * failures.
 */
const failingMax = 16

export class Breaker {
  readonly #limits: CircuitLimits
  readonly #areSeveral: AreSeveral
  /** The organizations with a failure since the last success, and the organization with the last failure. */
  readonly #failing = new Set<string>()
  #lastFailing: string | null = null
  #circuit: Circuit = closed
  #probe: Probe | null = null

  constructor(limits: CircuitLimits, areSeveral: AreSeveral) {
    this.#limits = limits
    this.#areSeveral = areSeveral
  }

  get state(): Circuit['state'] {
    return this.#circuit.state
  }

  /** True if there was no failure since the last success, so the breaker can be dropped. */
  get isIdle(): boolean {
    return this.#circuit === closed && this.#lastFailing === null
  }

  /**
   * Returns the time when the open circuit becomes half-open, in milliseconds on the monotonic clock. Infinity if the
   * circuit is not open.
   */
  get elapsesAtMs(): number {
    return this.#circuit.state === 'open' ? this.#circuit.untilMs : Number.POSITIVE_INFINITY
  }

  /**
   * Returns for how long the organization must wait, or null if it may try now. If `organizationId` is null, the answer
   * is for any organization.
   */
  blockedMs(organizationId: string | null, nowMs: number): number | null {
    const { state, untilMs, openMs } = this.#circuit
    if (state === 'closed' || this.#isOfAnother(organizationId)) return null
    if (state === 'open') return Math.max(0, untilMs - nowMs)
    if (state === 'probing') return this.#takesOver(organizationId) ? null : openMs
    const graceMs = this.#areSeveral() && this.#rank(organizationId) > 0 ? untilMs + probeGraceMs - nowMs : 0
    return graceMs > 0 ? graceMs : null
  }

  /**
   * Begins an attempt. Call this only after all checks allowed the attempt. Returns a probe if this attempt becomes the
   * probe.
   */
  begin(organizationId: string, nowMs: number): Probe | null {
    if (this.#circuit.state === 'closed') return null
    this.#move('begin', nowMs)
    this.#probe = { organizationId }
    return this.#probe
  }

  alive(nowMs: number): void {
    this.#move('alive', nowMs)
  }

  succeeded(nowMs: number): void {
    this.#move('success', nowMs)
    this.#failing.clear()
    this.#lastFailing = null
  }

  /** Returns true if a failure of the organization counts for all organizations. */
  counts(organizationId: string): boolean {
    return !this.#areSeveral() || (this.#lastFailing !== null && this.#lastFailing !== organizationId)
  }

  /**
   * Handles a failed attempt. `probe` is the result of `begin`. An attempt from before the opening of the circuit is
   * ignored.
   */
  failed(organizationId: string, probe: Probe | null, nowMs: number, retryAfterMs = 0): void {
    const isProbe = this.#isProbe(probe)
    if (!isProbe && this.#circuit.state !== 'closed') return
    const counts = this.counts(organizationId)
    if (this.#failing.size < failingMax) this.#failing.add(organizationId)
    this.#lastFailing = organizationId
    if (counts) this.#move('failure', nowMs, retryAfterMs)
    else if (isProbe) this.#move('abandoned', nowMs)
  }

  /** Handles a probe that ended with neither a success nor a failure. */
  abandoned(probe: Probe | null, nowMs: number): void {
    if (this.#isProbe(probe)) this.#move('abandoned', nowMs)
  }

  elapse(nowMs: number): void {
    this.#move('elapsed', nowMs)
  }

  #isProbe(probe: Probe | null): boolean {
    return probe !== null && probe === this.#probe && this.#circuit.state === 'probing'
  }

  /**
   * Returns true if all failures came from one other organization. In this case the circuit opened before a second
   * organization used the server.
   */
  #isOfAnother(organizationId: string | null): boolean {
    return this.#areSeveral() && this.#failing.size === 1 && this.#rank(organizationId) === 0
  }

  /** Returns true if the organization need not wait for the running probe. */
  #takesOver(organizationId: string | null): boolean {
    return this.#areSeveral() && this.#rank(organizationId) < this.#rank(this.#probe?.organizationId ?? null)
  }

  /**
   * Returns 0 for an organization without a failure, 2 for the organization with the last failure, and 1 for others.
   */
  #rank(organizationId: string | null): number {
    if (organizationId === null || !this.#failing.has(organizationId)) return 0
    return organizationId === this.#lastFailing ? 2 : 1
  }

  #move(event: CircuitEvent, nowMs: number, retryAfterMs = 0): void {
    this.#circuit = move(this.#circuit, event, this.#limits, nowMs, retryAfterMs)
  }
}
