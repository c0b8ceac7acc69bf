/**
 * Finds calls by words in their turns, without an index: under row level security Postgres uses an index only for
 * operators that are marked leakproof, and text search has no such operator. So a page reads at most `turnsMax` turns,
 * beginning with the newest calls, and the next page goes on with older calls.
 */
import type { CallPosition, TurnMatch } from '../../domain/calls/store.ts'
import type { Tx } from '../postgres/connect.ts'
import { readableJson } from '../postgres/row-values.ts'
import type { callsThatMatch } from './call-filter.ts'

/** Reading this many turns takes Postgres 0.2 s. */
const turnsMax = 20_000
const matchesMax = 3
/** The excerpt's length, and the length of its part before the word. */
const shownCharacters = 200
const charactersBefore = 60

type Found = { id: string; createdAtUs: number; matches: TurnMatch[] }
type Search = { found: Found[]; scanned: number; last: CallPosition | null; beforeLast: CallPosition | null }

/**
 * Returns the matching turns by call, newest call first, and where the next page begins. `calls` is SQL: a table with a
 * row for each call, and its condition. `end` is where these calls end. It is null if there are no further calls.
 */
export async function searchTurns(
  tx: Tx,
  calls: ReturnType<typeof callsThatMatch>,
  words: readonly string[],
  { limit, end }: { limit: number; end: CallPosition | null },
): Promise<{ matches: ReadonlyMap<string, readonly TurnMatch[]>; next: CallPosition | null }> {
  const [search] = await tx<[Search]>`
    with scanned as materialized (
      select calls.id, us, index, source, turn from (
        select *, (extract(epoch from created_at) * 1000000)::bigint as us from ${calls}
      ) as calls left join call_turns t
        on t.organization_id = calls.organization_id and t.test = calls.test and t.call_id = calls.id
      order by created_at desc, calls.id desc limit ${turnsMax}
    ), last as (
      select id, us from scanned order by us, id limit 1
    ), spoken as (
      select id, us, index, source, (readable->'startedAtMs')::text::float8 as started_at_ms,
        readable->>'text' as text
      from (select *, ${readableJson(tx, 'turn')} as readable from scanned where index is not null and source <> 'system')
        as said
    ), matching as (
      select *, row_number() over (partition by id order by index) as rank
      from spoken where ${containsAll(tx, words)}
    ), found as (
      select id, us, json_agg(json_build_object('index', index, 'source', source, 'startedAtMs', started_at_ms,
        'text', substr(text, greatest(1, position(lower(${words[0] ?? ''}) in lower(text)) - ${charactersBefore}), ${shownCharacters}))
        order by index) as matches
      from matching where rank <= ${matchesMax} group by id, us order by us desc, id desc
    )
    select
      (select count(*)::int from scanned) as scanned,
      (select json_build_object('id', id, 'createdAtUs', us) from last) as last,
      (select json_build_object('id', id, 'createdAtUs', us) from scanned
        where id <> (select id from last) order by us, id limit 1) as "beforeLast",
      coalesce((select json_agg(json_build_object('id', id, 'createdAtUs', us, 'matches', matches)
        order by us desc, id desc) from (select * from found limit ${limit + 2}) as f), '[]') as found`
  return pageOf(search, limit, end)
}

function containsAll(tx: Tx, words: readonly string[]) {
  const patterns = words.map((word) => `%${word.replace(/[\\%_]/g, '\\$&')}%`)
  return tx`text ilike all (select value from json_array_elements_text(${JSON.stringify(patterns)}::text::json))`
}

/** If the search reached its limit, the last call's turns may be incomplete, so this call is on the next page. */
function pageOf({ found, scanned, last, beforeLast }: Search, limit: number, sourceEnd: CallPosition | null) {
  const isComplete = scanned < turnsMax
  const whole = isComplete || beforeLast === null ? found : found.filter(({ id }) => id !== last?.id)
  const page = whole.slice(0, limit)
  const matches = new Map(page.map(({ id, matches }) => [id, matches]))
  const end = page.at(-1)
  if (whole.length > limit && end) return { matches, next: { createdAtUs: end.createdAtUs, id: end.id } }
  return { matches, next: isComplete ? sourceEnd : (beforeLast ?? last) }
}
