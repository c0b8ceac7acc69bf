/** Stores and reads calls' turns, events and spans. If a row exists already, it is not written again. */
import { type CallAttempt, type CallRecord, readMax, type StoredEvent } from '../../domain/calls/store.ts'
import type { Clock } from '../../domain/ports/system.ts'
import type { CallEntry, CallEvent, Span, Turn } from '../../domain/records/call.ts'
import type { Tenant } from '../../domain/records/organization.ts'
import type { Tx } from '../postgres/connect.ts'
import { keeps } from '../postgres/organization-choices.ts'
import { isUuid } from '../postgres/row-values.ts'
import type { Worlds } from '../postgres/tenant.ts'
import { readCallRequests } from './call-requests.ts'
import { ofCallId } from './call-rows.ts'
import { readLegUses } from './leg-charges.ts'

/** The limit for attempts to read for a call. Each turn has a few attempts. */
const attemptsMax = 100_000

type EventRow = Omit<StoredEvent, 'occurredAtMs' | 'createdAtMs' | 'sipCode'> & {
  occurredAt: Date
  createdAt: Date
  sipCode: number | null
}
type Place = Tenant & { id: string }

export function createCallRecord(worlds: Worlds, clock: Clock): CallRecord {
  return {
    turns: (tenant, id, afterIndex) =>
      ifCall(id, () => worlds.asTenant(tenant, (tx) => readTurns(tx, tenant, id, afterIndex))),
    events: (tenant, id, fromMs) =>
      ifCall(id, () =>
        worlds.asTenant(tenant, async (tx) => {
          const rows = await tx<EventRow[]>`
            select id, provider, type, status, failure_cause as "failureCause", sip_status_code as "sipCode",
              occurred_at as "occurredAt", created_at as "createdAt", payload
            from call_events ${ofCallId(tx, tenant, id)} and created_at >= ${new Date(fromMs)}
            order by occurred_at, id limit ${readMax.events}`
          return rows.map(eventOf)
        }),
      ),
    legUses: (tenant, id) =>
      ifCall(id, () => worlds.asTenant(tenant, (tx) => readLegUses(tx, tenant, id, clock.nowMs()))),
    requests: async (tenant, id) => {
      if (!isUuid(id)) return { requests: [], isComplete: true }
      return worlds.asTenant(tenant, (tx) => readCallRequests(tx, tenant, id))
    },
    attempts: (tenant, id) => ifCall(id, () => worlds.asTenant(tenant, (tx) => readAttempts(tx, tenant, id))),
  }
}

export async function readTurns(tx: Tx, tenant: Tenant, callId: string, afterIndex: number): Promise<readonly Turn[]> {
  const rows = await tx<{ turn: Turn; results: ToolResults | null }[]>`
    select turn, tool_results as results from call_turns
    ${ofCallId(tx, tenant, callId)} and index > ${afterIndex} order by index limit ${readMax.turns}`
  return rows.map(({ turn, results }) => withResults(turn, results))
}

export async function readSpans(tx: Tx, tenant: Tenant, callId: string): Promise<readonly Span[]> {
  const rows = await tx<{ span: Span }[]>`
    select span from call_spans ${ofCallId(tx, tenant, callId)} order by start_ms desc, id desc limit ${readMax.spans}`
  return rows.map(({ span }) => span).reverse()
}

export async function readAttempts(tx: Tx, tenant: Tenant, callId: string): Promise<readonly CallAttempt[]> {
  return tx<CallAttempt[]>`
    select stage, provider, model, quantities, cost_micro_usd as "costMicroUsd", price_source as "priceSource",
      key_source as "keySource"
    from (
      select r.stage, a.provider, a.model, a.quantities, a.cost_micro_usd, a.price_source, a.key_source, a.started_at
      from requests r join attempts a on a.organization_id = r.organization_id and a.request_id = r.request_id
      where r.organization_id = ${tenant.organizationId} and r.call_id = ${callId}
      union all
      select stage, provider, model, quantities, cost_micro_usd, price_source, key_source, started_at
      from call_costs ${ofCallId(tx, tenant, callId)}
    ) as attempt
    order by started_at limit ${attemptsMax}`
}

/**
 * Reads a call's last turns, together at most `bytesMax`, in the order of their index. `total` counts all the call's
 * turns.
 */
export async function readLastTurns(
  tx: Tx,
  tenant: Tenant,
  callId: string,
  bytesMax: number,
): Promise<{ turns: readonly Turn[]; total: number }> {
  const rows = await tx<{ turn: Turn; total: number }[]>`
    select turn, total from (
      select turn, index, count(*) over ()::int as total, sum(octet_length(turn::text)) over (order by index desc) as bytes
      from call_turns ${ofCallId(tx, tenant, callId)}) as t
    where bytes <= ${bytesMax} order by index`
  return { turns: rows.map(({ turn }) => turn), total: rows[0]?.total ?? 0 }
}

async function ifCall<T>(id: string, read: () => Promise<readonly T[]>): Promise<readonly T[]> {
  return isUuid(id) ? read() : []
}

function eventOf({ occurredAt, createdAt, sipCode, ...event }: EventRow): StoredEvent {
  return {
    ...event,
    ...(sipCode !== null && { sipCode }),
    occurredAtMs: occurredAt.getTime(),
    createdAtMs: createdAt.getTime(),
  }
}

export async function storedEventIds(tx: Tx, call: Place, entries: readonly CallEntry[]): Promise<ReadonlySet<string>> {
  const ids = entries.flatMap((entry) => ('event' in entry ? [entry.event.id] : []))
  if (ids.length === 0) return new Set()
  const rows = await tx<{ id: string }[]>`
    select id from call_events ${ofCallId(tx, call, call.id)}
      and id in (select value::uuid from json_array_elements_text(${JSON.stringify(ids)}::text::json))`
  return new Set(rows.map(({ id }) => id))
}

export async function turnSources(tx: Tx, call: Place): Promise<readonly Pick<Turn, 'source'>[]> {
  return tx<Pick<Turn, 'source'>[]>`select source from call_turns ${ofCallId(tx, call, call.id)}`
}

/** Stores turns, and their tools' results if the organization keeps results. */
export async function insertTurns(tx: Tx, call: Place, turns: readonly Turn[]): Promise<void> {
  if (turns.length === 0) return
  const rows = turns.map((turn) => {
    const { id, index, source } = turn
    const results = turn.toolCalls.map(({ result }) => result ?? null)
    const hasResults = results.some((result) => result !== null)
    return { id, index, source, text: textOf(withoutResults(turn)), results: hasResults ? textOf(results) : null }
  })
  await tx`
    insert into call_turns (organization_id, test, call_id, index, id, source, turn, tool_results)
    select ${call.organizationId}, ${call.test}, ${call.id}, index, id, source, text::json,
      case when results is not null and ${keeps(tx, call, 'tool_results')} then results::json end
    from json_to_recordset(${JSON.stringify(rows)}::text::json)
      as t (id uuid, index int, source text, text text, results text)
    on conflict do nothing`
}

/**
 * The results of a turn's tool calls, in their order. They are stored beside the turn, because few readers need them.
 */
type ToolResults = readonly (string | null)[]

/** JSON leaves out undefined values. */
function withoutResults(turn: Turn): object {
  return { ...turn, toolCalls: turn.toolCalls.map((call) => ({ ...call, result: undefined })) }
}

function withResults(turn: Turn, results: ToolResults | null): Turn {
  if (results === null) return turn
  const toolCalls = turn.toolCalls.map((call, at) => {
    const result = results[at]
    return typeof result === 'string' ? { ...call, result } : call
  })
  return { ...turn, toolCalls }
}

export async function insertSpans(tx: Tx, call: Place, spans: readonly Span[]): Promise<void> {
  if (spans.length === 0) return
  const rows = spans.map((span) => ({ id: span.id, startMs: span.startMs, text: textOf(span) }))
  await tx`
    insert into call_spans (organization_id, test, call_id, id, start_ms, span)
    select ${call.organizationId}, ${call.test}, ${call.id}, id, "startMs", text::json
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as s (id text, "startMs" double precision, text text)
    on conflict do nothing`
}

/**
 * Stores events. The caller must have locked the call's row, or just created it. Only then is an event's `created_at`
 * never before that of an earlier event, even if this process's clock is behind. So readers can page by `created_at`.
 */
export async function insertEvents(tx: Tx, call: Place, events: readonly CallEvent[], nowMs: number): Promise<void> {
  if (events.length === 0) return
  const rows = events.map(({ payload, ...event }) => ({ ...event, text: textOf(payload) }))
  await tx`
    insert into call_events
      (organization_id, test, call_id, id, provider, type, status, failure_cause, sip_status_code, occurred_at,
        created_at, payload)
    select ${call.organizationId}, ${call.test}, ${call.id}, id, provider, type, status, "failureCause", "sipCode",
      to_timestamp("occurredAtMs" / 1000),
      greatest(${new Date(nowMs)}, (select max(created_at) from call_events ${ofCallId(tx, call, call.id)})), text::json
    from json_to_recordset(${JSON.stringify(rows)}::text::json)
      as e (id uuid, provider text, type text, status text, "failureCause" text, "sipCode" int,
        "occurredAtMs" double precision, text text)
    on conflict do nothing`
}

/**
 * Writes a value as JSON text inside the JSON, because Postgres cannot read a JSON object's fields if one contains
 * U+0000.
 */
const textOf = (value: unknown) => JSON.stringify(value)
