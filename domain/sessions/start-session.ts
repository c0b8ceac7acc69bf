/** Starts a session. All checks for a refusal are here, before a browser joins. */

import type { SecretsByTool } from '../agents/join-tools.ts'
import type { MediaRooms } from '../ports/media-rooms.ts'
import type { Clock } from '../ports/system.ts'
import type { Call, CallEvent } from '../records/call.ts'
import { roomNameOf } from '../records/call.ts'
import { type Caller, tenantOf } from '../records/organization.ts'
import { refuseIssues } from '../records/resource-fault.ts'
import type { SessionRoutes } from '../speech/session-routes.ts'
import { issuesOfRequest } from './check.ts'
import { applyPreCall, asRequest, type PreCall, type SessionSettings } from './pre-call.ts'
import {
  agentOf,
  type LiveCount,
  type PrepareDeps,
  preparationOf,
  prepared,
  requireCredit,
  requireSeat,
} from './prepare.ts'
import { SessionQueue } from './queue.ts'
import type { SessionRequest, StartedSession, StartSession } from './start.ts'
import { claimsOf, mediaUrl, type TransportClaims, type TransportTokens } from './transport-token.ts'

export type StartDeps = PrepareDeps & {
  routes: SessionRoutes
  calls: NewCalls
  preCall: PreCall
  tokens: TransportTokens
  /** Null if this server has no media rooms. */
  rooms: SessionRooms | null
  clock: Clock
  ids: { session: () => string }
  /** The maximum number of unjoined sessions for an organization. */
  queuedMax: number
}

/** Rooms for sessions with `transport: livekit`. */
export type SessionRooms = Pick<MediaRooms, 'url' | 'mint'> & {
  /** Begins to watch the room for the caller. */
  watch(room: string, claims: TransportClaims): void
}

export interface NewCalls extends LiveCount {
  insert(call: Call, secrets: SecretsByTool, events: readonly CallEvent[]): Promise<void>
  /** Counts the organization's unjoined sessions, live and test sessions together. */
  countQueued(organizationId: string): Promise<number>
}

/** The time to join, in seconds, if the request does not set it. */
const ttlDefaultS = 900

export function createStartSession(deps: StartDeps): StartSession {
  const queue = new SessionQueue((id) => deps.calls.countQueued(id), deps.queuedMax)
  return {
    async start(caller, request, publicUrl) {
      const tenant = tenantOf(caller)
      refuseIssues(await issuesOfRequest(request, deps.rules, tenant.organizationId))
      requireTransport(deps, request)
      const agent = await agentOf(deps, tenant, request.agentId ?? null)
      const id = deps.ids.session()
      const occasion = { callId: id, nowMs: deps.clock.nowMs(), direction: 'browser', phone: null, unset: null }
      const transport = request.transport ?? 'websocket'
      const preparation = await preparationOf(deps, tenant, { occasion, transport, agent })
      const own = await prepared(deps, preparation, request)
      await requireCredit(deps, caller)
      await requireSeat(deps, caller, preparation.organization?.maxSessions ?? null)
      const made = { id, agentId: agent?.id ?? null }
      // Reserves the place in the queue first, because a refused session must not send an event to an endpoint.
      return queue.enter(tenant.organizationId, async () => {
        deps.routes.require(caller, own.pipeline)
        const outcome = await applyPreCall(
          deps,
          newCall(caller, request, own, made, occasion.nowMs),
          own,
          async (overrides) => {
            refuseIssues(await issuesOfRequest(asRequest(request, overrides), deps.rules, tenant.organizationId))
            const changed = await prepared(deps, preparation, request, overrides)
            deps.routes.require(caller, changed.pipeline)
            return changed
          },
        )
        const { pipeline, secrets } = outcome.settings
        // The endpoint's answer may have taken ten seconds, so the time to join begins only now.
        const call = newCall(caller, request, outcome.settings, made, deps.clock.nowMs())
        const joining = await joiningOf(deps, call, publicUrl)
        deps.routes.warmUp(caller, pipeline)
        await deps.calls.insert(call, secrets, outcome.events)
        if (pipeline.transport === 'livekit') deps.rooms?.watch(roomNameOf(call), claimsOf(call))
        return started(call, joining)
      })
    },
  }
}

function requireTransport({ rooms }: StartDeps, { transport }: SessionRequest): void {
  if (transport !== 'livekit' || rooms !== null) return
  refuseIssues([{ path: ['transport'], problem: { kind: 'transport_missing' } }])
}

function newCall(
  { organization, test, keyId }: Caller,
  { webhookTags, identity, ttlSeconds }: SessionRequest,
  { pipeline, metadata }: SessionSettings,
  { id, agentId }: { id: string; agentId: string | null },
  nowMs: number,
): Call {
  return {
    id,
    organizationId: organization.id,
    test,
    agentId,
    keyId,
    status: 'queued',
    kind: 'browser',
    phone: null,
    identity: identity ?? `user_${id}`,
    pipeline,
    metadata,
    webhookTags: webhookTags ?? {},
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    expiresAtMs: nowMs + (ttlSeconds ?? ttlDefaultS) * 1000,
    startedAtMs: null,
    endedAtMs: null,
    endReason: null,
    recordingStatus: null,
    recordingDurationMs: null,
    ownerId: null,
  }
}

type Joining = Pick<StartedSession, 'url' | 'token'>

/** Makes the URL and the token with which the browser joins. */
async function joiningOf({ rooms, tokens }: StartDeps, call: Call, publicUrl: string): Promise<Joining> {
  if (call.pipeline.transport === 'livekit' && rooms !== null) {
    const seat = { room: roomNameOf(call), identity: call.identity }
    return { url: rooms.url, token: await rooms.mint(seat, call.expiresAtMs) }
  }
  return { url: mediaUrl(publicUrl, call.id), token: tokens.mint(claimsOf(call)) }
}

function started(call: Call, joining: Joining): StartedSession {
  const { id, test, identity, expiresAtMs, pipeline } = call
  const transport = pipeline.transport === 'livekit' ? 'livekit' : 'websocket'
  return { id, test, transport, ...joining, roomName: roomNameOf(call), identity, expiresAtMs }
}
