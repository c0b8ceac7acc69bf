/** The operations to read stored sessions. A session is a call, written in camelCase. */
import type { Calls } from '../../domain/calls/calls.ts'
import type { CallFilter, CallSummary } from '../../domain/calls/store.ts'
import { type CallPhone, durationS, roomNameOf } from '../../domain/records/call.ts'
import { type Caller, tenantOf } from '../../domain/records/organization.ts'
import type { PlatformHandlers } from '../../generated/platform/handlers.ts'
import type { SessionItem } from '../../generated/platform/types.ts'
import { cursorOf, positionOf } from './call-cursors.ts'
import { pipelineConfig } from './pipeline-wire.ts'
import { millisecondsOf, timeOf, timeOrNull } from './times.ts'
import { sessionTurn } from './turn-wire.ts'

type Handlers = PlatformHandlers<Caller>

export function listSessions(calls: Calls): Handlers['listSessions'] {
  return async ({ query }, { caller }) => {
    const { limit, cursor, status, kind, agent, from, to } = query
    const filter: CallFilter = {
      ...(status !== undefined && { status }),
      ...(kind !== undefined && { kind }),
      ...(agent !== undefined && { agentId: agent }),
      ...(from !== undefined && { fromMs: millisecondsOf('from', from) }),
      ...(to !== undefined && { toMs: millisecondsOf('to', to) }),
    }
    const { calls: page, next } = await calls.list(tenantOf(caller), filter, limit, positionOf(cursor))
    return { status: 200, body: { entries: page.map(itemOf), nextCursor: next && cursorOf(next) } }
  }
}

export function getSession(calls: Calls): Handlers['getSession'] {
  return async ({ path }, { caller }) => {
    const call = await calls.get(tenantOf(caller), path.id)
    const { pipeline, metadata, webhookTags, expiresAtMs } = call
    const item = itemOf({ ...call, language: pipeline.intent.language })
    const expiresAt = timeOf(expiresAtMs)
    return {
      status: 200,
      body: { ...item, expiresAt, metadata, webhookTags, pipelineConfig: pipelineConfig(pipeline) },
    }
  }
}

export function getSessionTranscript(calls: Calls): Handlers['getSessionTranscript'] {
  return async ({ path }, { caller }) => {
    const turns = await calls.turns(tenantOf(caller), path.id)
    return { status: 200, body: { entries: turns.map(sessionTurn) } }
  }
}

function numbersOf({ direction, from, to }: CallPhone): Pick<SessionItem, 'direction' | 'from' | 'to'> {
  return { direction, ...(from !== null && { from }), to }
}

function itemOf(call: CallSummary): SessionItem {
  return {
    sessionId: call.id,
    ...(call.test && { test: true }),
    agentId: call.agentId,
    status: call.status,
    kind: call.kind,
    language: call.language,
    ...(call.phone && numbersOf(call.phone)),
    identity: call.identity,
    roomName: roomNameOf(call),
    createdAt: timeOf(call.createdAtMs),
    startedAt: timeOrNull(call.startedAtMs),
    endedAt: timeOrNull(call.endedAtMs),
    endReason: call.endReason,
    durationSeconds: durationS(call),
    recordingStatus: call.recordingStatus,
    recordingDurationMs: call.recordingDurationMs,
  }
}
