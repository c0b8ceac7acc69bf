/** Lets sockets of the media channel join this process's live sessions. */
import type { MediaSink, MediaTransport } from '../../ports/media.ts'
import type { Call } from '../../records/call.ts'
import type { Caller, Tenant } from '../../records/organization.ts'
import type { ClientOverride, Pipeline, SampleRate } from '../../records/pipeline.ts'
import type { SessionOverrides } from '../../sessions/overrides.ts'
import type { TransportClaims } from '../../sessions/transport-token.ts'

export interface SeatAdmission {
  /**
   * Decides before the upgrade whether a token's holder may join. `caller` has the API key that started the
   * session. Throws ResourceFault `call_not_live` if the session is over or was not joined in time, ResourceFault
   * `not_found` if the caller has no such session, Fault `too_many_at_once` if a limit is reached, and Fault
   * `overloaded` if the server is full or draining. Returns SessionElsewhere if another process has the session.
   */
  admit(claims: TransportClaims, caller: Caller): Promise<SessionSeat | SessionElsewhere>
}

/** A session in another process. `ownerId` names the process. */
export type SessionElsewhere = { ownerId: string }

/**
 * Makes a session belong to this process before its caller joins. Needed for media rooms: there the caller joins the
 * media server and not a socket of this process.
 */
export interface SessionOwnership {
  /** Returns true if the session's conversation has begun in this process and is not over. */
  isLive(id: string): boolean
  /**
   * Makes this process the call's owner before the caller joins. Resolves with false if another process has the call,
   * or if the call is over.
   */
  hold(tenant: Tenant, id: string): Promise<boolean>
  /** Undoes `hold` if the conversation has not begun. Never rejects. */
  letGo(tenant: Tenant, id: string): Promise<void>
}

/** An admitted session, with the fields of its `ready` message. */
export type SessionSeat = {
  sessionId: string
  identity: string
  sampleRate: SampleRate
  recording: boolean
  maxDurationSeconds: number
  agentName: string | null
  clientOverrides: Pipeline['clientOverrides']
  /** True if an earlier socket has joined. The new socket's overrides are then ignored. */
  isJoined: boolean
  /**
   * Called when the socket is open. The first join begins the session with the socket's overrides. Every override must
   * be listed in `clientOverrides`. Throws the same faults as `admit`.
   */
  join(overrides: SessionOverrides): Promise<JoinedSession>
}

/** Admits the session's caller: returns the session's fields for its `ready` message. */
export function seatOf({ id, identity, pipeline }: Call, isJoined: boolean, join: SessionSeat['join']): SessionSeat {
  return {
    sessionId: id,
    identity,
    sampleRate: pipeline.ttsOptions.sampleRate,
    recording: pipeline.recording,
    maxDurationSeconds: pipeline.maxDurationSeconds,
    agentName: pipeline.agentName,
    clientOverrides: pipeline.clientOverrides,
    isJoined,
    join,
  }
}

export type JoinedSession = {
  /**
   * True if another socket has begun the session before. Read this field immediately before `begin`, because another
   * socket may begin the session at any time.
   */
  readonly resumed: boolean
  /** This socket's overrides that no provider can serve. For them, the session keeps its settings. */
  readonly unserved: readonly ClientOverride[]
  /**
   * Called directly after `ready` was sent, but not if a newer socket has joined meanwhile. From then on the
   * conversation may use the transport. A session's first `begin` starts its conversation; a later `begin` gives the
   * conversation the new transport. If the socket was lost meanwhile, `begin` and directly afterwards `gone` are
   * called. Throws ResourceFault `call_not_live` or Fault `too_many_at_once` if a person may no longer join beside the
   * caller.
   */
  begin(transport: MediaTransport): MediaSink
}
