/** The operation that lists and searches all calls. */
import type { Calls } from '../../domain/calls/calls.ts'
import type { CallFilter, CallOverview, TurnMatch } from '../../domain/calls/store.ts'
import { durationS } from '../../domain/records/call.ts'
import { type Caller, tenantOf } from '../../domain/records/organization.ts'
import type { PlatformHandlers } from '../../generated/platform/handlers.ts'
import type * as Wire from '../../generated/platform/types.ts'
import { Refusal } from '../../runtime/engine/handler.ts'
import { overviewCursorOf, overviewPositionOf } from './call-cursors.ts'
import { resourceOf } from './call-wire.ts'
import { moneyOf } from './money.ts'
import { millisecondsOf, timeOf, timeOrNull } from './times.ts'

type Query = Parameters<PlatformHandlers<Caller>['listCalls']>[0]['query']

export function listCalls(calls: Calls): PlatformHandlers<Caller>['listCalls'] {
  return async ({ query }, { caller }) => {
    const words = query.q === undefined ? [] : query.q.trim().split(/\s+/)
    const { sort, limit } = query
    if (words.length > 0 && sort !== 'created_at')
      throw new Refusal('invalid_parameter', {
        param: 'sort',
        message: 'sort must be created_at if there is q',
        keyword: 'enum',
      })
    const page = await calls.overview(tenantOf(caller), {
      filter: filterOf(query),
      words: words.filter((word) => word !== ''),
      ...{ sort, limit, after: overviewPositionOf(query.cursor, sort) },
    })
    const rows = page.calls.map((call) => overviewOf(call, query.q !== undefined))
    return { status: 200, body: { calls: rows, next_cursor: page.next && overviewCursorOf(page.next, sort) } }
  }
}

/** Reads the filters that the list of calls and the stream of all calls share. */
export function filterOf(query: Omit<Query, 'q' | 'sort' | 'limit' | 'cursor'>): CallFilter {
  const { status, kind, direction, outcome, number, since, until } = query
  return {
    ...(status !== undefined && { status }),
    ...(kind !== undefined && { kind }),
    ...(direction !== undefined && { direction }),
    ...(outcome !== undefined && { outcome }),
    ...(number !== undefined && { number }),
    ...(query.agent_id !== undefined && { agentId: query.agent_id }),
    ...(query.end_reason !== undefined && { endReason: query.end_reason }),
    ...(query.phone_number_id !== undefined && { phoneNumberId: query.phone_number_id }),
    ...(query.live !== undefined && { isLive: query.live }),
    ...(since !== undefined && { fromMs: millisecondsOf('since', since) }),
    ...(until !== undefined && { toMs: millisecondsOf('until', until) }),
    ...(query.min_duration_seconds !== undefined && { minDurationS: query.min_duration_seconds }),
    ...(query.max_duration_seconds !== undefined && { maxDurationS: query.max_duration_seconds }),
    ...(query.min_cost_micro_usd !== undefined && { minCostMicroUsd: Number(query.min_cost_micro_usd) }),
    ...(query.max_cost_micro_usd !== undefined && { maxCostMicroUsd: Number(query.max_cost_micro_usd) }),
    ...(query.min_latency_ms !== undefined && { minLatencyMs: query.min_latency_ms }),
    ...(query.agent_version !== undefined && { agentVersion: query.agent_version }),
    ...(query.has !== undefined && { has: query.has }),
  }
}

export function overviewOf(call: CallOverview, isSearch: boolean): Wire.CallOverview {
  const { phone, latencyMs, slowestTurn } = call
  return {
    id: call.id,
    ...(call.test && { test: true }),
    resource_uri: resourceOf(call),
    agent_id: call.agentId,
    agent_name: call.agentName,
    agent_version: call.agentVersion,
    status: call.status,
    kind: call.kind,
    direction: phone?.direction ?? null,
    from: phone?.from ?? null,
    to: phone?.to ?? null,
    phone_number_id: phone?.phoneNumberId ?? null,
    language: call.language,
    created_at: timeOf(call.createdAtMs),
    updated_at: timeOf(call.updatedAtMs),
    started_at: timeOrNull(call.startedAtMs),
    ended_at: timeOrNull(call.endedAtMs),
    end_reason: call.endReason,
    outcome: call.outcome,
    duration_seconds: durationS(call),
    recording_status: call.recordingStatus,
    turns: call.turns,
    interruptions: call.interruptions,
    tool_calls: call.toolCalls,
    tool_failures: call.toolFailures,
    transfers: call.transfers,
    failovers: call.failovers,
    cost_micro_usd: moneyOf(call.costMicroUsd),
    latency_ms: latencyMs,
    slowest_turn: slowestTurn && turnOf(slowestTurn),
    ...(isSearch && { matches: call.matches.map(matchOf) }),
  }
}

function turnOf({ index, latencyMs, startedAtMs }: NonNullable<CallOverview['slowestTurn']>): Wire.SlowestTurn {
  return { index, latency_ms: latencyMs, started_at: timeOf(startedAtMs) }
}

function matchOf({ index, source, startedAtMs, text }: TurnMatch): Wire.TurnMatch {
  return { turn_index: index, source, started_at: timeOf(startedAtMs), text }
}
