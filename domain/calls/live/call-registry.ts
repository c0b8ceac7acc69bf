/**
 * Holds the sessions with media in this process. It decides who may join, begins the conversation at the first join,
 * keeps the session for a while if its socket is lost, and ends the concurrency lease when the session ends.
 *
 *   queued ──join──► live ──gone──► waiting ──back──► live
 *                      │               └── reconnectMs passed ──► ended: user_disconnected
 *                      └── the conversation ends ──► ended
 */
import type { EndLease, Limits } from '../../access/limits.ts'
import type {
  CallHolder,
  Conversation,
  LiveCall,
  RegisteredCall,
  StartConversation,
} from '../../conversation/parts/live-call.ts'
import type { MediaTransport } from '../../ports/media.ts'
import type { Clock, Log } from '../../ports/system.ts'
import { type Call, type CallKind, callKinds, isJoinable } from '../../records/call.ts'
import { Fault } from '../../records/fault.ts'
import type { Caller, Tenant } from '../../records/organization.ts'
import type { ClientOverride, Pipeline } from '../../records/pipeline.ts'
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
import { Places, type TakePlace } from './places.ts'
import { seatedSink } from './seated-sink.ts'
import { type JoinedSession, type SeatAdmission, type SessionElsewhere, type SessionSeat, seatOf } from './seats.ts'
import { SessionPeople } from './session-people.ts'

export type JoinableCalls = ClaimedCallsDeps['calls'] & Pick<CallStore, 'findWithSecrets' | 'countLive' | 'endedAmong'>

export type CallRegistryDeps = {
  calls: JoinableCalls
  organizations: SessionOrganizations
  limits: Limits
  routes: SessionRoutes
  startConversation: StartConversation
  clock: Clock
  log: Log
  /** This process's id among the processes with the same database. */
  ownerId: string
  takePlace: TakePlace
  /** If a socket is lost, its session waits this long for a new socket. */
  reconnectMs: number
  /** This machine's URL. Null if there is only one machine. */
  nodeUrl: string | null
}

type Live = {
  call: Call
  /** Begins the conversation over the first socket. */
  start: (transport: MediaTransport) => Conversation
  /** Ends a phone call before its conversation begins. Null for a browser's session. */
  holder: CallHolder | null
  /** Null until the first socket has begun the conversation. */
  conversation: Conversation | null
  people: SessionPeople
  /** Ends the concurrency lease, and stops counting the session against this process's limit for live sessions. */
  endLease: EndLease
  /** Cancels the session's scheduled end after a lost socket. */
  cancelEnd: (() => void) | null
  /** The number of the newest socket. Events from older sockets are ignored. */
  seat: number
}

export class CallRegistry implements SeatAdmission {
  readonly #deps: CallRegistryDeps
  readonly #live = new Map<string, Live>()
  /** First joins in progress, by call id. */
  readonly #taking = new Map<string, Promise<Live>>()
  readonly #claimed: ClaimedCalls
  readonly #places: Places
  #whenEmpty = () => {}

  constructor(deps: CallRegistryDeps) {
    this.#deps = deps
    this.#claimed = new ClaimedCalls(deps)
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
    if (live !== undefined && claims.person !== undefined) return this.#seatOfPerson(live, claims, caller)
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
  joinState({ organizationId, test }: Tenant, id: string): JoinState {
    const { call, conversation, people } = this.#live.get(id) ?? {}
    const isOurs = call?.organizationId === organizationId && call.test === test
    const isHere = isOurs && conversation?.isOver === false
    const isHandedOver = isOurs && conversation?.isHandedOver === true
    return { isHere, isFull: isHere && people?.isFull === true, isHandedOver, nodeUrl: this.#deps.nodeUrl }
  }

  /**
   * Ends a session in this process. If it has not begun yet, it ends as soon as it begins. Returns false if this
   * process has no such session.
   */
  end(tenant: Tenant, id: string, reason: EndReason, clientReason?: string): boolean {
    const { call, conversation = null, holder = null } = this.#live.get(id) ?? {}
    if (conversation === null && holder === null) return this.#claimed.end(tenant, id, { reason, clientReason })
    if (call?.organizationId !== tenant.organizationId || call.test !== tenant.test) return false
    if (conversation === null) holder?.end(reason, clientReason)
    else conversation.end(reason, clientReason)
    return true
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
  async take(pending: LiveCall, caller: Caller, holder: CallHolder): Promise<RegisteredCall> {
    const live = await this.#take(pending, null, caller, holder)
    const over = () => {
      this.#ended(live)
      holder.conversationOver()
    }
    return {
      get conversation() {
        return live.conversation
      },
      begin: (begun, transport) => {
        live.call = begun.call
        live.start = (media) => this.#deps.startConversation(begun, caller, media, over)
        return this.#joined(live, []).begin(transport)
      },
      drop: () => {
        this.#claimed.begun(live.call.id)
        this.#ended(live)
      },
    }
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

  /** Admits a further person to this session beside its caller. */
  #seatOfPerson(live: Live, { identity, expiresAtMs, person }: TransportClaims, caller: Caller): SessionSeat {
    const { people } = live
    const requireSeat = () => {
      const { call, conversation } = live
      if (conversation?.isHandedOver) throw new ResourceFault({ kind: 'call_not_live', because: 'with_recipient' })
      if (conversation === null || conversation.isOver || this.#live.get(call.id) !== live)
        throw new ResourceFault({ kind: 'call_not_live' })
      // During a transfer, a person may reconnect, but no new person may join.
      if (conversation.isTransferring && !people.has(identity))
        throw new ResourceFault({ kind: 'call_not_live', because: 'transferring' })
      people.require(identity, expiresAtMs)
      return conversation
    }
    requireSeat()
    return {
      ...this.#seatOf(live.call, caller, true),
      identity,
      clientOverrides: [],
      join: () => {
        requireSeat()
        const who = { identity, displayName: person?.displayName ?? null }
        return Promise.resolve({
          unserved: [],
          resumed: people.has(identity),
          // A transfer may have begun meanwhile.
          begin: (transport: MediaTransport) => people.join(requireSeat(), who, transport),
        })
      },
    }
  }

  async #join(
    id: string,
    caller: Caller,
    overrides: SessionOverrides,
    stored: LiveCall | undefined,
  ): Promise<JoinedSession> {
    const live = this.#live.get(id)
    if (live !== undefined) return this.#joined(live, [])
    if (stored === undefined) throw new ResourceFault({ kind: 'call_not_live' })
    // Two sockets may make the first join at once. Both get the same session.
    const underWay = this.#taking.get(id)
    if (underWay !== undefined) return this.#joined(await underWay, [])
    const { pipeline, unserved } = takeOverrides(this.#deps.routes, caller, stored.call.pipeline, overrides)
    const taking = this.#take(stored, pipeline, caller)
      .catch((error: unknown) => {
        if (!(error instanceof Fault || error instanceof ResourceFault)) this.#abandon(stored.call)
        throw error
      })
      .finally(() => this.#taking.delete(id))
    this.#taking.set(id, taking)
    return this.#joined(await taking, unserved)
  }

  /**
   * Joins a socket to the session: `begin` connects it to the conversation. If a newer socket has begun meanwhile, this
   * socket never begins.
   */
  #joined(live: Live, unserved: readonly ClientOverride[]): JoinedSession {
    return {
      unserved,
      get resumed() {
        return live.conversation !== null
      },
      begin: (transport) => {
        live.cancelEnd?.()
        live.cancelEnd = null
        const seat = ++live.seat
        const { conversation } = live
        if (conversation !== null) conversation.back(transport)
        const begun = conversation ?? this.#begun(live, transport)
        const isNewest = () => live.seat === seat
        return seatedSink(begun, isNewest, { gone: () => this.#gone(live, begun), hangUp: () => begun.hangUp() })
      },
    }
  }

  /** Begins the conversation. If an end was requested before, the conversation ends at once. */
  #begun(live: Live, transport: MediaTransport): Conversation {
    const conversation = this.#started(live, transport)
    live.conversation = conversation
    const end = this.#claimed.begun(live.call.id)
    if (end !== null) conversation.end(end.reason, end.clientReason)
    return conversation
  }

  /** Starts the conversation. If this fails, the call ends. */
  #started(live: Live, transport: MediaTransport): Conversation {
    try {
      return live.start(transport)
    } catch (error) {
      this.#ended(live)
      this.#abandon(live.call)
      throw error
    }
  }

  /** Ends a call that could not begin because of a defect in this server. A second join would fail in the same way. */
  #abandon(call: Call): void {
    void this.#claimed.abandon(call, call.id, 'pipeline_failed')
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
    holder: CallHolder | null = null,
  ): Promise<Live> {
    const { calls, organizations, limits, routes } = this.#deps
    const call = pipeline === null ? pending.call : { ...pending.call, pipeline }
    const endLease = await this.#places.takeWithLease(limits, call.organizationId, caller)
    const start = (transport: MediaTransport) =>
      this.#deps.startConversation({ ...pending, call }, caller, transport, () => this.#ended(live))
    const people = new SessionPeople(this.#deps.clock, this.#deps.reconnectMs)
    const live: Live = { call, start, holder, conversation: null, people, endLease, cancelEnd: null, seat: 0 }
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
      this.#live.set(call.id, live)
      if (isDisabled) this.end(call, call.id, 'api_ended', disabledReason)
      return live
    } catch (error) {
      endLease()
      if (isOurs) await this.#claimed.release(call, call.id)
      throw error
    }
  }

  #gone(live: Live, conversation: Conversation): void {
    if (!this.#live.has(live.call.id)) return
    conversation.gone()
    live.cancelEnd?.()
    live.cancelEnd = this.#deps.clock.after(this.#deps.reconnectMs, () => {
      // After a transfer the agent's conversation is over. The caller talks to the recipient over the carrier's
      // connection, so the media stream is not needed.
      if (!conversation.isOver) conversation.end('user_disconnected')
    })
  }

  #ended(live: Live): void {
    if (this.#live.get(live.call.id) !== live) return
    live.cancelEnd?.()
    live.endLease()
    live.people.close()
    this.#live.delete(live.call.id)
    if (this.#live.size === 0) this.#whenEmpty()
  }
}
