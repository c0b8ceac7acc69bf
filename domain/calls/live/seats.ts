/** The live sessions of this process, as the media channel sees them. */
import type { MediaSink, MediaTransport } from '../../ports/media.ts'
import type { Call } from '../../records/call.ts'
import type { Caller, Tenant } from '../../records/organization.ts'
import type { ClientOverride, Pipeline, SampleRate } from '../../records/pipeline.ts'
import type { SessionOverrides } from '../../sessions/overrides.ts'
import type { TransportClaims } from '../../sessions/transport-token.ts'

export interface SeatAdmission {
  /**
   * Decides before the upgrade whether the holder of a token may join; `caller` is the key that minted it. Throws
   * ResourceFault `call_not_live` when the session is over or was not joined in time, ResourceFault `not_found` when
   * the caller has no such session, and a Fault for a limit (`too_many_at_once`) and for a server that is full or
   * draining (`overloaded`). Another process may hold the session.
   */
  admit(claims: TransportClaims, caller: Caller): Promise<SessionSeat | SessionElsewhere>
}

/** A session that another process holds, by the name of that process. */
export type SessionElsewhere = { ownerId: string }

/** How a transport whose callers come to this process by themselves shares the sessions with other processes. */
export interface HeldSessions {
  /** Its conversation has begun in this process and is not over. */
  isLive(id: string): boolean
  /** Makes this process the owner of a call before it joins. False: another process has it, or it is over. */
  hold(tenant: Tenant, id: string): Promise<boolean>
  /** Takes back `hold` of a call whose conversation has not begun. Never rejects. */
  letGo(tenant: Tenant, id: string): Promise<void>
}

/** A session that the holder of a token may join, and what `ready` says of it. */
export type SessionSeat = {
  sessionId: string
  identity: string
  sampleRate: SampleRate
  recording: boolean
  maxDurationSeconds: number
  agentName: string | null
  clientOverrides: Pipeline['clientOverrides']
  /** A socket has joined before: its overrides count no more. */
  isJoined: boolean
  /**
   * Called once the socket is open. The first join begins the session with the overrides, which are allowed ones only.
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
  /** The session has begun before. It is read right before `begin` is called. */
  readonly resumed: boolean
  /** The overrides of this socket that no provider can serve: the session keeps its settings instead. */
  readonly unserved: readonly ClientOverride[]
  /**
   * Called right after `ready` was sent, or not at all when a newer socket was quicker. The conversation may use the
   * transport from then on. The first call of a session begins its conversation; a later one gives it the transport by
   * `back`. A socket that was lost in the meantime calls `begin`, and `gone` right after it.
   */
  begin(transport: MediaTransport): MediaSink
}
