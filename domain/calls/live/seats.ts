/** The media channel's view of this process's live sessions. */
import type { MediaSink, MediaTransport } from '../../ports/media.ts'
import type { Call } from '../../records/call.ts'
import type { Caller, Tenant } from '../../records/organization.ts'
import type { ClientOverride, Pipeline, SampleRate } from '../../records/pipeline.ts'
import type { SessionOverrides } from '../../sessions/overrides.ts'
import type { TransportClaims } from '../../sessions/transport-token.ts'

export interface SeatAdmission {
  /**
   * Decides before the upgrade whether a token's holder may join. `caller` is the API key behind the token. Throws
   * ResourceFault `call_not_live` if the session is over or was not joined in time, `not_found` if the caller has no
   * such session, Fault `too_many_at_once` for a limit, and Fault `overloaded` if the server is full or draining.
   * Another process may hold the session.
   */
  admit(claims: TransportClaims, caller: Caller): Promise<SessionSeat | SessionElsewhere>
}

/** A session in another process. `ownerId` names the process. */
export type SessionElsewhere = { ownerId: string }

/** Shares sessions with other processes, for a transport with callers that reach this process directly. */
export interface SessionOwnership {
  /** True if its conversation has begun in this process and is not over. */
  isLive(id: string): boolean
  /**
   * Makes this process the call's owner before it joins. False if another process has the call, or if the call is over.
   */
  hold(tenant: Tenant, id: string): Promise<boolean>
  /** Takes back `hold` if the conversation has not begun. Never rejects. */
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
  /** True if a socket has joined before. Later overrides are ignored. */
  isJoined: boolean
  /**
   * Called when the socket is open. The first join begins the session with its overrides, which must all be allowed.
   * Throws as `admit` does.
   */
  join(overrides: SessionOverrides): Promise<JoinedSession>
}

/** The seat of the caller. */
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
  /** True if the session has begun before. Read it directly before `begin`. */
  readonly resumed: boolean
  /** This socket's overrides that no provider can serve. The session keeps its settings instead. */
  readonly unserved: readonly ClientOverride[]
  /**
   * Called directly after `ready` was sent, but not if a newer socket was quicker. From then on the conversation may
   * use the transport. A session's first `begin` starts its conversation; a later `begin` hands over the transport
   * through `back`. If the socket was lost meanwhile, `begin` is called and `gone` directly after.
   */
  begin(transport: MediaTransport): MediaSink
}
