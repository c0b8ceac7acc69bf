/**
 * Finds calls by their rows in `call_facts`. A page reads a limited number of rows in the list's order. So if a filter
 * matches few calls, the page still takes a limited time, and the next page goes on.
 *
 * A time range with fewer calls than the limit is read as a whole. For a longer range, a list by another value than the
 * time reads its next rows, inside and outside the range.
 */
import type { CallFilter, CallSort, OverviewPosition } from '../../domain/calls/store.ts'
import type { Tenant } from '../../domain/records/organization.ts'
import type { Tx } from '../postgres/connect.ts'
import { arrayLiteral } from '../postgres/row-values.ts'
import { timestampOf } from './call-times.ts'

/** Reading this many rows takes Postgres 50 ms. */
const scannedMax = 50_000

/**
 * The filters that the indexes on the table `calls` serve. If a query has no other filter, it does not read
 * `call_facts`.
 */
const indexed: readonly string[] = ['agentId', 'fromMs', 'toMs'] satisfies (keyof CallFilter)[]

export function needsFacts(filter: CallFilter, sort: CallSort): boolean {
  return sort !== 'created_at' || Object.keys(filter).some((name) => !indexed.includes(name))
}

export async function findCalls(
  tx: Tx,
  tenant: Tenant,
  filter: CallFilter,
  { sort, limit, after }: { sort: CallSort; limit: number; after: OverviewPosition | null },
): Promise<{ ids: readonly string[]; next: OverviewPosition | null }> {
  if (sort !== 'created_at' && hasRange(filter) && (await isShort(tx, tenant, filter))) {
    const rows = await tx<OverviewPosition[]>`
      select id, ${position(tx, sort)} as at
      from (select * from call_facts where ${ofTenant(tx, tenant)} ${inRange(tx, filter)} offset 0) as facts
      where ${thatMatch(tx, filter)} ${afterPosition(tx, sort, after)} ${ordered(tx, sort)} limit ${limit + 1}`
    return pageOf(rows, limit, null)
  }
  const rows = await tx<OverviewPosition[]>`
    select id, ${position(tx, sort)} as at from (${firstRows(tx, tenant, filter, sort, after)}) as facts
    where ${thatMatch(tx, filter)} ${inRange(tx, filter)} ${ordered(tx, sort)} limit ${limit + 1}`
  const end = rows.length > limit ? null : await endOfRows(tx, tenant, filter, sort, after)
  return pageOf(rows, limit, end)
}

/** Returns the ids from `ids` whose calls match the filter. */
export async function matchingIds(
  tx: Tx,
  tenant: Tenant,
  filter: CallFilter,
  ids: readonly string[],
): Promise<readonly string[]> {
  const rows = await tx<{ id: string }[]>`
    select id from call_facts
    where ${ofTenant(tx, tenant)} and id = any(${arrayLiteral(ids)}::uuid[])
      ${inRange(tx, filter)} and ${thatMatch(tx, filter)}`
  return rows.map(({ id }) => id)
}

function pageOf(rows: readonly OverviewPosition[], limit: number, end: OverviewPosition | null) {
  const ids = rows.slice(0, limit).map(({ id }) => id)
  return { ids, next: rows.length > limit ? (rows[limit - 1] ?? null) : end }
}

/** Returns SQL for the matching calls among the next calls by time, for a search in their turns. */
export function factsOf(tx: Tx, tenant: Tenant, filter: CallFilter, after: OverviewPosition | null) {
  return tx`(${firstRows(tx, tenant, filter, 'created_at', after)}) as facts where ${thatMatch(tx, filter)}`
}

/** Returns the end position for `factsOf`. Null: there are no further calls. */
export async function endOfFacts(tx: Tx, tenant: Tenant, filter: CallFilter, after: OverviewPosition | null) {
  return endOfRows(tx, tenant, filter, 'created_at', after)
}

const hasRange = ({ fromMs, toMs }: CallFilter) => fromMs !== undefined || toMs !== undefined

async function isShort(tx: Tx, tenant: Tenant, filter: CallFilter): Promise<boolean> {
  const [row] = await tx<{ count: number }[]>`
    select count(*)::int as count from (
      select from call_facts where ${ofTenant(tx, tenant)} ${inRange(tx, filter)} limit ${scannedMax + 1}) as facts`
  return (row?.count ?? 0) <= scannedMax
}

/** Returns SQL for a page's rows. Only a list by time can apply the range before the limit. */
function firstRows(tx: Tx, tenant: Tenant, filter: CallFilter, sort: CallSort, after: OverviewPosition | null) {
  return tx`
    select * from call_facts where ${ofTenant(tx, tenant)} ${sort === 'created_at' ? inRange(tx, filter) : tx``}
    ${afterPosition(tx, sort, after)} ${ordered(tx, sort)} limit ${scannedMax}`
}

/**
 * Finds the page's last row in a separate statement, which reads only an index. One statement for the matches and the
 * end must store all rows: for 50,000 rows Postgres wrote 9.5 MB to disk and took 66 ms instead of 55 ms.
 */
async function endOfRows(
  tx: Tx,
  tenant: Tenant,
  filter: CallFilter,
  sort: CallSort,
  after: OverviewPosition | null,
): Promise<OverviewPosition | null> {
  const [last] = await tx<OverviewPosition[]>`
    select id, ${position(tx, sort)} as at from (${firstRows(tx, tenant, filter, sort, after)}) as facts
    ${ordered(tx, sort)} offset ${scannedMax - 1} limit 1`
  return last ?? null
}

const ordered = (tx: Tx, sort: CallSort) => tx`order by ${tx(columns[sort])} desc, id desc`

const columns = {
  created_at: 'created_at',
  duration_seconds: 'duration_s',
  cost_micro_usd: 'cost_micro_usd',
  slowest_turn_ms: 'slowest_us',
} as const satisfies Record<CallSort, string>

function position(tx: Tx, sort: CallSort) {
  return sort === 'created_at'
    ? tx`(extract(epoch from created_at) * 1000000)::float8`
    : tx`${tx(columns[sort])}::float8`
}

function afterPosition(tx: Tx, sort: CallSort, after: OverviewPosition | null) {
  if (after === null) return tx``
  const value =
    sort === 'created_at' ? tx`${timestampOf(after.at)}::text::timestamptz` : tx`${after.at}::float8::bigint`
  return tx`and (${tx(columns[sort])}, id) < (${value}, ${after.id})`
}

const ofTenant = (tx: Tx, { organizationId, test }: Tenant) =>
  tx`organization_id = ${organizationId} and test = ${test}`

function inRange(tx: Tx, { fromMs, toMs }: CallFilter) {
  return tx`
    ${fromMs === undefined ? tx`` : tx`and created_at >= ${new Date(fromMs)}`}
    ${toMs === undefined ? tx`` : tx`and created_at < ${new Date(toMs)}`}`
}

function thatMatch(tx: Tx, filter: CallFilter) {
  const equal = (column: string, value: string | number | boolean | undefined) =>
    value === undefined ? tx`` : tx`and ${tx(column)} = ${value}`
  const atLeast = (column: string, value: number | undefined) =>
    value === undefined ? tx`` : tx`and ${tx(column)} >= ${value}`
  const atMost = (column: string, value: number | undefined) =>
    value === undefined ? tx`` : tx`and ${tx(column)} between 0 and ${value}`
  return tx`
    true ${equal('status', filter.status)} ${equal('kind', filter.kind)} ${equal('agent_id', filter.agentId)}
    ${equal('end_reason', filter.endReason)} ${equal('is_live', filter.isLive)} ${equal('direction', filter.direction)}
    ${equal('phone_number_id', filter.phoneNumberId)} ${equal('outcome', filter.outcome)}
    ${equal('agent_version', filter.agentVersion)} ${ofNumber(tx, filter.number)}
    ${atLeast('duration_s', filter.minDurationS)} ${atMost('duration_s', filter.maxDurationS)}
    ${atLeast('cost_micro_usd', filter.minCostMicroUsd)} ${atMost('cost_micro_usd', filter.maxCostMicroUsd)}
    ${atLeast('slowest_us', filter.minLatencyMs === undefined ? undefined : filter.minLatencyMs * 1000)}
    ${filter.has === undefined ? tx`` : inOneOrder(filter.has).map((each) => tx`and ${tx.unsafe(happened[each])}`)}`
}

/** Sorts the client's values, because for Postgres each order would be another statement. */
const inOneOrder = (has: readonly Happening[]) => happenings.filter((each) => has.includes(each))

type Happening = NonNullable<CallFilter['has']>[number]

/** SQL, by the wire's names. */
const happened = {
  tool_failure: 'tool_failures > 0',
  transfer: 'transfers > 0',
  interruption: 'interruptions > 0',
  failover: 'failovers > 0',
  recording: 'has_recording',
} as const satisfies Record<Happening, string>
const happenings = Object.keys(happened) as Happening[]

function ofNumber(tx: Tx, number: string | undefined) {
  if (number === undefined) return tx``
  const reversed = [...number.replace('+', '')].reverse().join('')
  if (number.startsWith('+')) return tx`and (from_reversed = ${reversed} or to_reversed = ${reversed})`
  return tx`and (starts_with(from_reversed, ${reversed}) or starts_with(to_reversed, ${reversed}))`
}
