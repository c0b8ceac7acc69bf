/**
 * Holds the sessions with media in this process: decides who may join, claims a call at its first join, finds sessions
 * by their call, and ends them when the process closes. `LiveSession` is one of these sessions.
 */
import type { Limits } from '../../access/limits.ts'
import type { CallHolder, LiveCall, RegisteredCall } from '../../conversation/parts/live-call.ts'
import { type Call, type CallKind, callKinds, isJoinable } from '../../records/call.ts'
import { Fault } from '../../records/fault.ts'
import type { Caller, Tenant } from '../../records/organization.ts'
import type { Pipeline } from '../../records/pipeline.ts'
import { ResourceFault } from '../../records/resource-fault.ts'
import type { EndReason } from '../../records/states/call.ts'
import { type SessionOverrides, takeOverrides } from '../../sessions/overrides.ts'
import { requireSeat, type SessionOrganizations } from '../../sessions/prepare.ts'
import type { TransportClaims } from '../../sessions/transport-token.ts'
import type { SessionRoutes } from '../../speech/session-routes.ts'
import type { JoinState } from '../live-calls.ts'
import type { CallStore } from '../store.ts'
import { ClaimedCalls, type ClaimedCallsDeps } from './claimed-calls.ts'
import { disabledReason } from './end-calls.ts'
import { LiveSession, type LiveSessionDeps } from './live-session.ts'
import { Places, type TakePlace } from './places.ts'
import { type JoinedSession, type SeatAdmission, type SessionElsewhere, type SessionSeat, seatOf } from './seats.ts'

export type JoinableCalls = ClaimedCallsDeps['calls'] & Pick<CallStore, 'findWithSecrets' | 'countLive' | 'endedAmong'>

export type CallRegistryDeps = Omit<LiveSessionDeps, 'claimed'> &
  ClaimedCallsDeps & {
    calls: JoinableCalls
    organizations: SessionOrganizations
    limits: Limits
    routes: SessionRoutes
    takePlace: TakePlace
    /** This machine's URL. Null if there is only one machine. */
    nodeUrl: string | null
  }

export class CallRegistry implements SeatAdmission {
  readonly #deps: CallRegistryDeps
  /** The sessions by call id. */
  readonly #live = new Map<string, LiveSession>()
  /** First joins in progress, by call id. */
  readonly #taking = new Map<string, Promise<LiveSession>>()
  readonly #claimed: ClaimedCalls
  readonly #sessionDeps: LiveSessionDeps
  readonly #places: Places
  #whenEmpty = () => {}

  constructor(deps: CallRegistryDeps) {
    this.#deps = deps
    this.#claimed = new ClaimedCalls(deps)
    this.#sessionDeps = { ...deps, claimed: this.#claimed }
    this.#places = new Places(deps.takePlace)
  }

  get size(): number {
    return this.#live.size
  }

  /** Counts the live calls by kind. Each kind has an entry, even if its count is 0. */
  countByKind(): [CallKind, number][] {
    const counts = new Map(callKinds.map((kind) => [kind, 0]))
    for (const { call } of this.#live.values()) counts.set(call.kind, (counts.get(call.kind) ?? 0) + 1)
    return [...counts]
  }

  async admit(claims: TransportClaims, caller: Caller): Promise<SessionSeat | SessionElsewhere> {
    const live = this.#live.get(claims.sessionId)
    if (live !== undefined && claims.person !== undefined) return live.seatOfPerson(claims)
    if (live !== undefined) return this.#seatOf(live.call, caller, true)
    const tenant = { organizationId: claims.organizationId, test: caller.test }
    const stored = await this.#deps.calls.findWithSecrets(tenant, claims.sessionId)
    const isSeat = claims.person !== undefined || stored?.call.identity === claims.identity
    if (stored === null || !isSeat) throw new ResourceFault({ kind: 'not_found' })
    if (!isJoinable(stored.call, this.#deps.clock.nowMs())) throw new ResourceFault({ kind: 'call_not_live' })
    const { ownerId } = stored.call
    if (ownerId !== null && ownerId !== this.#deps.ownerId) return { ownerId }
    // This process is claiming the call at this moment, or has just ended it.
    if (ownerId !== null) throw new Fault({ kind: 'overloaded' }, { retryAfterS: 1 })
    if (claims.person !== undefined) throw new ResourceFault({ kind: 'call_not_live' })
    this.#places.require(claims.organizationId)
    const { maxSessions = null } = (await this.#deps.organizations.find(stored.call.organizationId)) ?? {}
    await requireSeat(this.#deps, caller, maxSessions)
    return this.#seatOf(stored.call, caller, false, stored)
  }

  /** States if a person can join a session, and at which machine. */
  joinState(tenant: Tenant, id: string): JoinState {
    const { nodeUrl } = this.#deps
    const live = this.#live.get(id)
    if (live === undefined || !isOf(live.call, tenant)) return { ...nowhere, nodeUrl }
    const { conversation, people } = live
    const isHere = conversation?.isOver === false
    return { isHere, isFull: isHere && people.isFull, isHandedOver: conversation?.isHandedOver === true, nodeUrl }
  }

  /**
   * Ends a session in this process. If it has not begun yet, it ends as soon as it begins. Returns false if this
   * process has no such session.
   */
  end(tenant: Tenant, id: string, reason: EndReason, clientReason?: string): boolean {
    const live = this.#live.get(id)
    if (live !== undefined && !isOf(live.call, tenant)) return false
    return live?.end(reason, clientReason) || this.#claimed.end(tenant, id, { reason, clientReason })
  }

  /** Repeats failed releases of calls. */
  releaseAgain(): Promise<void> {
    return this.#claimed.releaseAgain()
  }

  /** Ends local sessions if another process considered this process dead and ended their calls in the database. */
  async endOver(): Promise<void> {
    if (this.#live.size === 0) return
    const over = await this.#deps.calls.endedAmong([...this.#live.keys()])
    for (const { id, endReason, ...tenant } of over) this.end(tenant, id, endReason)
  }

  isLive(id: string): boolean {
    return this.#live.has(id)
  }

  /**
   * Makes this process the call's owner before the first join. Resolves with false if the call is over or belongs to
   * another process.
   */
  hold(tenant: Tenant, id: string): Promise<boolean> {
    return this.#claimed.claim(tenant, id, null)
  }

  /**
   * Takes a phone call into this process. It counts as a live session from now on, and `end` works even before its
   * conversation begins. Rejects for the same reasons as a browser's join. The call is then unchanged.
   */
  take(pending: LiveCall, caller: Caller, holder: CallHolder): Promise<RegisteredCall> {
    return this.#take(pending, null, caller, holder)
  }

  /** Undoes `hold` if the conversation has not begun. Never rejects. */
  letGo(tenant: Tenant, id: string): Promise<void> {
    return this.#claimed.release(tenant, id)
  }

  /** Refuses new sessions from now on. */
  drain(): void {
    this.#places.close()
  }

  /** Ends the remaining sessions. Resolves when their records are complete, or after `waitMs`. */
  async close(reason: EndReason, waitMs: number): Promise<void> {
    this.drain()
    for (const [id, { call }] of this.#live) this.end(call, id, reason)
    if (this.#live.size === 0) return
    await new Promise<void>((resolve) => {
      const cancel = this.#deps.clock.after(waitMs, resolve)
      this.#whenEmpty = () => {
        cancel()
        resolve()
      }
    })
  }

  #seatOf(call: Call, caller: Caller, isJoined: boolean, stored?: LiveCall): SessionSeat {
    return seatOf(call, isJoined, (overrides) => this.#join(call.id, caller, overrides, stored))
  }

  async #join(
    id: string,
    caller: Caller,
    overrides: SessionOverrides,
    stored: LiveCall | undefined,
  ): Promise<JoinedSession> {
    const live = this.#live.get(id)
    if (live !== undefined) return live.joined([])
    if (stored === undefined) throw new ResourceFault({ kind: 'call_not_live' })
    // Two sockets may make the first join at once. Both get the same session.
    const underWay = this.#taking.get(id)
    if (underWay !== undefined) return (await underWay).joined([])
    const { pipeline, unserved } = takeOverrides(this.#deps.routes, caller, stored.call.pipeline, overrides)
    const taking = this.#take(stored, pipeline, caller, null)
      .catch((error: unknown) => {
        if (!(error instanceof Fault || error instanceof ResourceFault)) void this.#claimed.abandon(stored.call, id)
        throw error
      })
      .finally(() => this.#taking.delete(id))
    this.#taking.set(id, taking)
    return (await taking).joined(unserved)
  }

  /**
   * Counts the call against this process's limit for live sessions, takes the concurrency lease and makes this process
   * the call's owner. `pipeline` replaces the call's pipeline unless it is null. If this process cannot become the
   * owner, both are undone. If the organization was disabled during the admission, the call ends as soon as it can,
   * because `endCalls` may not have listed it.
   */
  async #take(
    pending: LiveCall,
    pipeline: Pipeline | null,
    caller: Caller,
    holder: CallHolder | null,
  ): Promise<LiveSession> {
    const { calls, organizations, limits, routes } = this.#deps
    const call = pipeline === null ? pending.call : { ...pending.call, pipeline }
    const endLease = await this.#places.takeWithLease(limits, call.organizationId, caller)
    let isOurs = false
    try {
      // Warms up the providers again, because another process may have created the session, or idle speech engines may
      // have ended since.
      routes.warmUp(caller, call.pipeline)
      isOurs = await this.#claimed.claim(call, call.id, pipeline)
      if (!isOurs) throw new ResourceFault({ kind: 'call_not_live' })
      // The organization is read after the claim. `endCalls` lists the claimed calls after the organization was
      // disabled, so each call is either in that list or is ended here.
      const { maxSessions = null, isDisabled = false } = (await organizations.find(call.organizationId)) ?? {}
      // The count includes this call. If the count came before the claim, two simultaneous joins could both take the
      // last place.
      if (maxSessions !== null && (await calls.countLive(call.organizationId)) > maxSessions)
        throw new Fault({ kind: 'too_many_at_once', limit: 'organization' }, { retryAfterS: 1 })
      const over = () => this.#removed(call.id)
      const input = { settings: { ...pending, call }, caller, holder, endLease, over }
      const live = new LiveSession(this.#sessionDeps, input)
      this.#live.set(call.id, live)
      if (isDisabled) this.end(call, call.id, 'api_ended', disabledReason)
      return live
    } catch (error) {
      endLease()
      if (isOurs) await this.#claimed.release(call, call.id)
      throw error
    }
  }

  #removed(id: string): void {
    this.#live.delete(id)
    if (this.#live.size === 0) this.#whenEmpty()
  }
}

/** The state of a session that this process does not have. */
const nowhere = { isHere: false, isFull: false, isHandedOver: false }

function isOf({ organizationId, test }: Call, tenant: Tenant): boolean {
  return organizationId === tenant.organizationId && test === tenant.test
}
