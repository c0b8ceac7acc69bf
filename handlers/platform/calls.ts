import type { Calls } from '../../domain/calls/calls.ts'
import type { EndCall } from '../../domain/calls/end-call.ts'
import type { CallRequest } from '../../domain/calls/store.ts'
import { type Caller, tenantOf } from '../../domain/records/organization.ts'
import type { WebJoin } from '../../domain/sessions/web-join.ts'
import type { PlatformHandlers } from '../../generated/platform/handlers.ts'
import type * as Wire from '../../generated/platform/types.ts'
import { codeOfOutcome } from '../faults/table.ts'
import type { PublicUrlOf } from '../public-url.ts'
import { callItem, wireCall, wireEvent, wireReport } from './call-wire.ts'
import { moneyOf } from './money.ts'
import { attemptOf } from './request-route.ts'
import { microsecondsOf, timeOf, timeOfMicroseconds } from './times.ts'

type Handlers = PlatformHandlers<Caller>

export function getCall(calls: Calls): Handlers['getCall'] {
  return async ({ path }, { caller }) => ({
    status: 200,
    body: wireCall(await calls.whole(tenantOf(caller), path.id)),
  })
}

export function listAgentCalls(calls: Calls): Handlers['listAgentCalls'] {
  return async ({ path, query: { limit, cursor, since } }, { caller }) => {
    const range = {
      beforeUs: cursor === undefined ? null : microsecondsOf('cursor', cursor),
      sinceUs: since === undefined ? null : microsecondsOf('since', since),
    }
    const page = await calls.listOfAgent(tenantOf(caller), path.id, limit, range)
    const items = page.calls.map(callItem)
    const next = page.nextUs === null ? null : timeOfMicroseconds(page.nextUs)
    return { status: 200, body: { calls: items, entries: items, next_cursor: next } }
  }
}

export function listCallEvents(calls: Calls): Handlers['listCallEvents'] {
  return async ({ path: { id } }, { caller }) => {
    const events = await calls.events(tenantOf(caller), id)
    const call = { id, organizationId: caller.organization.id }
    return { status: 200, body: { events: events.map((event) => wireEvent(call, event)) } }
  }
}

export function listCallRequests(calls: Calls): Handlers['listCallRequests'] {
  return async ({ path }, { caller }) => {
    const { requests, isComplete, originMs } = await calls.requests(tenantOf(caller), path.id)
    return {
      status: 200,
      body: { requests: requests.map((each) => callRequest(each, originMs)), complete: isComplete },
    }
  }
}

function callRequest(request: CallRequest, originMs: number): Wire.CallRequest {
  return {
    request_id: request.requestId,
    stage: request.stage,
    turn_index: request.turnIndex,
    operation: request.operation,
    provider: request.provider,
    model: request.model,
    outcome: codeOfOutcome(request.outcome),
    started_at: timeOf(request.startedAtMs),
    start_ms: request.startedAtMs - originMs,
    duration_ms: request.durationMs,
    first_byte_ms: request.firstByteMs,
    cost_micro_usd: moneyOf(request.costMicroUsd),
    attempts: request.attempts.map(attemptOf),
    has_route: request.hasRoute,
  }
}

export function getCallReport(calls: Calls): Handlers['getCallReport'] {
  return async ({ path }, { caller }) => ({
    status: 200,
    body: wireReport(await calls.report(tenantOf(caller), path.id)),
  })
}

export function webJoinCall(webJoin: WebJoin, publicUrlOf: PublicUrlOf): Handlers['webJoinCall'] {
  return async ({ path, body }, { caller, peer }) => {
    const { expiresAtMs, ...joined } = await webJoin(caller, path.id, body?.displayName ?? null, publicUrlOf(peer))
    return { status: 200, body: { ...joined, expiresAt: timeOf(expiresAtMs), transport: 'websocket' } }
  }
}

export function endCall(endOf: EndCall): Handlers['endCall'] {
  return async ({ path, body }, { caller }) => {
    const end = await endOf(tenantOf(caller), path.id, body?.reason ?? undefined)
    const endedAt = end.status === 'already_ended' ? { ended_at: timeOf(end.endedAtMs) } : {}
    return { status: 200, body: { ok: true, status: end.status, ...endedAt } }
  }
}
