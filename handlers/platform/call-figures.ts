/** Serves statistics over many calls, such as counts and costs. */
import {
  type CallFigures,
  callFigureGroups,
  type FigureQuery,
  type FigureRow,
  figureRowsMax,
} from '../../domain/calls/figures.ts'
import type { Clock } from '../../domain/ports/system.ts'
import { type Caller, tenantOf } from '../../domain/records/organization.ts'
import type { PlatformHandlers } from '../../generated/platform/handlers.ts'
import type * as Wire from '../../generated/platform/types.ts'
import { Refusal } from '../../runtime/engine/handler.ts'
import { moneyOf } from './money.ts'
import { type TimeZones, timeZoneOf, unknownZone } from './time-zone.ts'
import { leastMs, millisecondsOf, timeOf, timeOrNull } from './times.ts'

type Query = Parameters<PlatformHandlers<Caller>['getCallFigures']>[0]['query']

const dayMs = 86_400_000
/** The default time range. */
const usualMs = 30 * dayMs
const rangeMsMax = { hour: 7 * dayMs, day: 92 * dayMs, none: 92 * dayMs }

export type FigureDeps = { figures: CallFigures; organizations: TimeZones; clock: Clock }

export function getCallFigures(deps: FigureDeps): PlatformHandlers<Caller>['getCallFigures'] {
  const { figures, organizations, clock } = deps
  return async ({ query }, { caller }) => {
    const ranged = queryOf(clock, query)
    const zone = { param: 'time_zone', requested: query.time_zone }
    const asked = { ...ranged, timeZone: await timeZoneOf(organizations, caller.organization.id, zone) }
    const found = await figures.read(tenantOf(caller), asked)
    if (found === 'zone_unknown') throw unknownZone('time_zone')
    if (found === 'too_many_rows')
      throw refusal(
        'group_by',
        `group_by divides this time into more than ${figureRowsMax} rows; ask for less time, or fewer groups`,
      )
    const { fromMs, toMs, interval } = asked
    const rows = found.rows.map((row) => ({ ...groupsOf(row, asked), ...figuresOf(row) }))
    const range = { since: timeOf(fromMs), until: timeOf(toMs), interval, time_zone: asked.timeZone }
    return { status: 200, body: { ...range, rows, total: figuresOf(found.total) } }
  }
}

function queryOf(clock: Clock, query: Query): Omit<FigureQuery, 'timeZone'> {
  const { interval } = query
  const toMs = query.until === undefined ? clock.nowMs() : millisecondsOf('until', query.until)
  const usual = interval === 'hour' ? rangeMsMax.hour : usualMs
  const fromMs = query.since === undefined ? Math.max(leastMs, toMs - usual) : millisecondsOf('since', query.since)
  if (!(fromMs < toMs && toMs - fromMs <= rangeMsMax[interval]))
    throw refusal('since', `since must be before until, and at most ${rangeMsMax[interval] / dayMs} days before it`)
  const groups = query.group_by ?? []
  return {
    ...{ fromMs, toMs, interval },
    groups: callFigureGroups.filter((group) => groups.includes(group)),
    ...(query.agent_id !== undefined && { agentId: query.agent_id }),
    ...(query.kind !== undefined && { kind: query.kind }),
    ...(query.phone_number_id !== undefined && { phoneNumberId: query.phone_number_id }),
  }
}

const refusal = (param: string, message: string) =>
  new Refusal('invalid_parameter', { param, message, keyword: 'format' })

function groupsOf(row: FigureRow, { groups }: FigureQuery) {
  const named = Object.fromEntries(groups.map((group) => [group === 'agent' ? 'agent_id' : group, row[group] ?? null]))
  return { bucket: timeOrNull(row.bucketMs), ...named }
}

function figuresOf(row: FigureRow): Wire.CallFigureSums {
  const { calls, connected, failed, unpriced, interruptions, p50, p95 } = row
  return {
    ...{ calls, connected, failed, unpriced, interruptions },
    duration_seconds: row.durationS,
    cost_micro_usd: moneyOf(row.costMicroUsd) ?? '0',
    latency_ms: p50 === null || p95 === null ? null : { p50, p95 },
    tool_failures: row.toolFailures,
  }
}
