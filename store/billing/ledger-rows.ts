/**
 * The rows for a settlement. One list names each column once, with its type and value. The rows, their order and the
 * statement's column lists all come from this list. A row goes to Postgres as a JSON array, so a batch does not repeat
 * the column names.
 */
import type { LedgerAttempt, LedgerRow, Settlement } from '../../domain/billing/ledger.ts'

/** SQL to read an item of each type from the JSON array `r`. */
const types = {
  text: (at: number) => `r->>${at}`,
  number: (at: number) => `(r->>${at})::double precision`,
  count: (at: number) => `(r->>${at})::smallint`,
  truth: (at: number) => `(r->>${at})::boolean`,
  /** A time in milliseconds since the epoch. */
  time: (at: number) => `to_timestamp((r->>${at})::double precision / 1000)`,
  /** An amount in micro-USD, rounded up. */
  money: (at: number) => `ceil((r->>${at})::numeric)::bigint`,
  json: (at: number) => `r->${at}`,
} satisfies Record<keyof Values, (at: number) => string>

type Values = { text: string; number: number; count: number; truth: boolean; time: number; money: number; json: object }

type Column<Source> = { name: string; type: keyof Values; value: (source: Source) => unknown }

/** Describes a column. A null or undefined value becomes NULL. */
function column<Type extends keyof Values, Source>(
  name: string,
  type: Type,
  value: (source: Source) => Values[Type] | null | undefined,
): Column<Source> {
  return { name, type, value }
}

type Shared = Pick<
  LedgerRow,
  'organizationId' | 'requestId' | 'attemptId' | 'provider' | 'model' | 'quantities' | 'costMicroUsd'
>
type OfRequest = { request: LedgerRow; choiceId: string }
type OfAttempt = { number: number; attempt: LedgerAttempt | undefined }

/** The columns in both `requests` and `attempts`. In `requests` they describe the last attempt. */
const shared = [
  column('organization_id', 'text', ({ organizationId }: Shared) => organizationId),
  column('request_id', 'text', ({ requestId }: Shared) => requestId),
  column('attempt_id', 'text', ({ attemptId }: Shared) => attemptId),
  column('provider', 'text', ({ provider }: Shared) => provider),
  column('model', 'text', ({ model }: Shared) => model),
  column('quantities', 'json', ({ quantities }: Shared) => quantities),
  column('cost_micro_usd', 'money', ({ costMicroUsd }: Shared) => costMicroUsd),
]
const ofRequest = [
  column('key_id', 'text', ({ request }: OfRequest) => request.keyId),
  column('test', 'truth', ({ request }: OfRequest) => request.test),
  column('operation', 'text', ({ request }: OfRequest) => request.operation),
  column('stage', 'text', ({ request }: OfRequest) => request.stage),
  column('outcome', 'text', ({ request }: OfRequest) => request.outcome),
  column('started_at', 'time', ({ request }: OfRequest) => request.startedAtMs),
  column('duration_ms', 'number', ({ request }: OfRequest) => request.durationMs),
  column('first_byte_ms', 'number', ({ request }: OfRequest) => request.firstByteMs),
  column('choice_id', 'text', ({ choiceId }: OfRequest) => choiceId),
  column('call_id', 'text', ({ request }: OfRequest) => request.callId),
]
const ofAttempt = [
  column('number', 'count', ({ number }: OfAttempt) => number),
  column('outcome', 'text', ({ attempt }: OfAttempt) => attempt?.outcome),
  column('started_at', 'time', ({ attempt }: OfAttempt) => attempt?.startedAtMs),
  column('duration_ms', 'number', ({ attempt }: OfAttempt) => attempt?.durationMs),
  column('first_byte_ms', 'number', ({ attempt }: OfAttempt) => attempt?.firstByteMs),
  column('price_source', 'text', ({ attempt }: OfAttempt) => attempt?.priceSource),
  column('key_source', 'text', ({ attempt }: OfAttempt) => attempt?.keySource),
]

/**
 * Returns the row for a request with its last attempt. A request nearly always has one attempt, so a settlement nearly
 * always costs one row.
 */
export function rowOf({ row: request, choice }: Settlement): readonly unknown[] {
  const { attempts } = request
  const chosen: OfRequest = { request, choiceId: choice.record.id }
  const last: OfAttempt = { number: attempts.length, attempt: attempts.at(-1) }
  const row: unknown[] = []
  for (const { value } of shared) row.push(value(request))
  for (const { value } of ofRequest) row.push(value(chosen))
  for (const { value } of ofAttempt) row.push(value(last))
  return row
}

/** Returns the rows for the attempts before the last one. */
export function earlierRowsOf({ row: request }: Settlement): readonly (readonly unknown[])[] {
  const { organizationId, requestId, attempts } = request
  return attempts.slice(0, -1).map((attempt, index) => {
    const both: Shared = { ...attempt, organizationId, requestId }
    const own: OfAttempt = { number: index + 1, attempt }
    return [...shared.map(({ value }) => value(both)), ...ofAttempt.map(({ value }) => value(own))]
  })
}

/** In a request's row the last attempt's columns have this prefix. */
const prefix = 'last_'
const namesOf = (columns: readonly { name: string }[], before = '') => columns.map(({ name }) => before + name)
const readsOf = (columns: readonly { name: string; type: keyof Values }[]) =>
  columns.map(({ name, type }, at) => `${types[type](at)} as ${name}`).join(', ')

/** SQL for a statement to read rows `r` from `rowOf` into a table `entry`. */
export const ledgerSql = {
  entry: readsOf([...shared, ...ofRequest, ...ofAttempt.map(({ name, type }) => ({ name: prefix + name, type }))]),
  requestColumns: namesOf([...shared, ...ofRequest]).join(', '),
  attemptColumns: namesOf([...shared, ...ofAttempt]).join(', '),
  /** Reads the last attempt from `entry`, in the order of `attemptColumns`. */
  lastAttempt: [...namesOf(shared), ...namesOf(ofAttempt, prefix)].join(', '),
  hasAttempt: `${prefix}number > 0`,
  /** Reads rows `r` from `earlierRowsOf`, in the order of `attemptColumns`. */
  earlierAttempt: readsOf([...shared, ...ofAttempt]),
}
