/** Starts a session: everything that can be refused is refused here, before a browser joins. */

import type { Limits } from '../access/limits.ts'
import { type Caller, type Tenant, tenantOf } from '../access/organization.ts'
import { takeLease } from '../access/take-lease.ts'
import type { Agent, AgentStore } from '../agents/agent.ts'
import type { StoredTool, ToolStore } from '../agents/tool.ts'
import type { Credit } from '../billing/ledger.ts'
import type { Call, CallEvent } from '../calls/call.ts'
import { roomNameOf } from '../calls/call.ts'
import { Fault } from '../fault.ts'
import type { MediaRooms } from '../ports/media-rooms.ts'
import type { Clock } from '../ports/system.ts'
import { ResourceFault, refuseIssues } from '../resource-fault.ts'
import { issuesOfJoined, issuesOfWanted, type SessionRules } from './check.ts'
import { joinSettings } from './join.ts'
import { joinTools, type SecretsByTool } from './join-tools.ts'
import {
  applyPreCall,
  asRequest,
  joinMetadata,
  type PreCall,
  type PreCallOverrides,
  type SessionSettings,
} from './pre-call.ts'
import { SessionQueue } from './queue.ts'
import { renderSettings } from './render.ts'
import type { SessionRoutes } from './routes.ts'
import type { StartedSession, StartSession, WantedSession } from './start.ts'
import { claimsOf, mediaUrl, type TransportClaims, type TransportTokens } from './transport-token.ts'

export type StartDeps = {
  agents: Pick<AgentStore, 'find'>
  tools: Pick<ToolStore, 'listWithSecrets'>
  rules: SessionRules
  routes: SessionRoutes
  limits: Limits
  credit: Pick<Credit, 'any'>
  organizations: SessionOrganizations
  calls: NewCalls
  preCall: PreCall
  tokens: TransportTokens
  /** Null: sessions have no rooms here. */
  rooms: SessionRooms | null
  clock: Clock
  ids: { session: () => string }
  /** Sessions of an organization that nobody has joined yet. */
  queuedMax: number
}

/** Where sessions with `transport: livekit` meet. */
export type SessionRooms = Pick<MediaRooms, 'url' | 'mint'> & {
  /** The caller is expected in the room from now on. */
  watch(room: string, claims: TransportClaims): void
}

/** The settings of an organization that a session needs. */
export interface SessionOrganizations {
  find(id: string): Promise<{ recordingEnabled: boolean; maxSessions: number | null } | null>
}

export interface NewCalls {
  insert(call: Call, secrets: SecretsByTool, events: readonly CallEvent[]): Promise<void>
  /** The calls of the organization that are connected now, in both worlds. */
  countLive(organizationId: string): Promise<number>
  /** Those that nobody has joined yet, in both worlds. */
  countQueued(organizationId: string): Promise<number>
}

/** How long a browser has to join, if the request does not say. */
const ttlDefaultS = 900

export function createStartSession(deps: StartDeps): StartSession {
  const queue = new SessionQueue((id) => deps.calls.countQueued(id), deps.queuedMax)
  return {
    async start(caller, wanted, publicUrl) {
      refuseIssues(await issuesOfWanted(wanted, deps.rules))
      requireTransport(deps, wanted)
      const tenant = tenantOf(caller)
      const agent = await agentOf(deps, tenant, wanted)
      const id = deps.ids.session()
      const organization = await deps.organizations.find(tenant.organizationId)
      const occasion = {
        callId: id,
        nowMs: deps.clock.nowMs(),
        isRecorded: organization?.recordingEnabled ?? false,
        agent,
        tools: agent === null ? [] : await deps.tools.listWithSecrets(tenant, agent.id),
      }
      const own = await prepared(deps, occasion, wanted)
      await requireCredit(deps, caller)
      await requireSeat(deps, caller, organization?.maxSessions ?? null)
      const made = { id, agentId: agent?.id ?? null }
      const asked = await applyPreCall(
        deps,
        newCall(caller, wanted, own, made, occasion.nowMs),
        own,
        async (overrides) => {
          refuseIssues(await issuesOfWanted(asRequest(wanted, overrides), deps.rules))
          const changed = await prepared(deps, occasion, wanted, overrides)
          deps.routes.require(caller, changed.pipeline)
          return changed
        },
      )
      const { pipeline, secrets } = asked.settings
      // An answer may have taken ten seconds, and the time to join begins now.
      const call = newCall(caller, wanted, asked.settings, made, deps.clock.nowMs())
      const joining = await joiningOf(deps, call, publicUrl)
      await queue.enter(tenant.organizationId, () => {
        deps.routes.require(caller, pipeline)
        deps.routes.warmUp(caller, pipeline)
        return deps.calls.insert(call, secrets, asked.events)
      })
      if (pipeline.transport === 'livekit') deps.rooms?.watch(roomNameOf(call), claimsOf(call))
      return started(call, joining)
    },
  }
}

function requireTransport({ rooms }: StartDeps, { transport }: WantedSession): void {
  if (transport !== 'livekit' || rooms !== null) return
  refuseIssues([{ path: ['transport'], problem: { kind: 'transport_missing' } }])
}

async function agentOf({ agents }: StartDeps, tenant: Tenant, { agentId }: WantedSession): Promise<Agent | null> {
  if (agentId === undefined || agentId === null) return null
  const agent = await agents.find(tenant, agentId)
  if (agent === null) throw new ResourceFault({ kind: 'not_found' })
  return agent
}

type SessionOccasion = {
  callId: string
  nowMs: number
  isRecorded: boolean
  agent: Agent | null
  tools: readonly StoredTool[]
}

/** `wanted` is what the request asks for, and what an endpoint has changed in it. */
async function prepared(
  { rules }: StartDeps,
  { callId, nowMs, isRecorded, agent, tools }: SessionOccasion,
  ...wanted: readonly [WantedSession, ...PreCallOverrides[]]
): Promise<SessionSettings> {
  const joined = joinSettings(agent, ...wanted)
  refuseIssues(issuesOfJoined(joined))
  const own = joinTools(tools, ...wanted.map((each) => each.tools))
  const [request] = wanted
  const occasion = { callId, nowMs, direction: 'browser' }
  const rendered = await renderSettings(joined, agent, request.variables ?? {}, occasion, rules.render)
  // The organization's off always wins.
  const recording = isRecorded && (joined.recording ?? true)
  const transport = request.transport ?? 'websocket'
  return {
    pipeline: { transport, ...rendered, recording, tools: own.tools },
    secrets: own.secrets,
    metadata: joinMetadata(wanted.map(({ metadata }) => metadata)),
  }
}

/** A test session takes no credit. */
async function requireCredit({ credit }: StartDeps, { test, organization }: Caller): Promise<void> {
  if (!test && !(await credit.any(organization.id))) throw new Fault({ kind: 'credit_too_low' })
}

/** The seat is taken at the join. Here a session is refused that could not be joined now. */
async function requireSeat(deps: StartDeps, caller: Caller, sessionsMax: number | null): Promise<void> {
  const { limits, calls } = deps
  const end = await takeLease(limits, caller, 'session')
  end()
  const { id } = caller.organization
  if (sessionsMax === null || (await calls.countLive(id)) < sessionsMax) return
  throw new Fault({ kind: 'too_many_at_once', limit: 'organization' }, { retryAfterS: 1 })
}

function newCall(
  { organization, test, keyId }: Caller,
  { webhookTags, identity, ttlSeconds }: WantedSession,
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

/** Where the browser joins, and with which token. */
async function joiningOf({ rooms, tokens }: StartDeps, call: Call, publicUrl: string): Promise<Joining> {
  if (call.pipeline.transport === 'livekit' && rooms !== null) {
    const seat = { room: roomNameOf(call), identity: call.identity }
    return { url: rooms.url, token: await rooms.mint(seat, call.expiresAtMs) }
  }
  return { url: mediaUrl(publicUrl, call.id), token: tokens.mint(claimsOf(call)) }
}

function started(call: Call, joining: Joining): StartedSession {
  const { id, test, identity, expiresAtMs, pipeline } = call
  return { id, test, transport: pipeline.transport, ...joining, roomName: roomNameOf(call), identity, expiresAtMs }
}
