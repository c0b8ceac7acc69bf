/** A search for words in more turns than one page may read. */
import t from 'tap'
import type { OverviewPosition } from '../../domain/calls/store.ts'
import { newCall, newTurn } from '../calls/call.ts'
import { organization, TestCluster } from './cluster.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

const startMs = Date.parse('2026-11-01T10:00:00.000Z')
const turnsOfCall = 1000

t.test('if a search must read more turns than one request may read, its next page has the rest', async (t) => {
  const url = await cluster.database()
  const store = await cluster.store(t, url)
  const { id } = await organization(store, 'searching')
  const ids: string[] = []
  for (let at = 0; at < 22; at++) {
    const call = newCall(id, { createdAtMs: startMs + at * 1000 })
    await store.calls.insert(call, {})
    ids.push(call.id)
  }
  const tenant = { organizationId: id, test: false }
  const sql = cluster.sql(t, url)
  await sql`
    insert into call_turns (organization_id, test, call_id, index, id, source, turn)
    select ${id}, false, c.id, i, gen_random_uuid(), 'user', ${JSON.stringify(newTurn())}::text::json
    from calls c cross join generate_series(0, ${turnsOfCall - 1}) as i`
  await sql`
    update call_turns set turn = replace(turn::text, 'open', 'find a needle')::json
    where call_id = any(${`{${ids[0]},${ids[1]},${ids[21]}}`}::uuid[]) and index = 7`
  const search = (after: OverviewPosition | null) =>
    store.calls.overview(tenant, { filter: {}, words: ['needle'], sort: 'created_at', limit: 50, after })
  const first = await search(null)
  t.same(
    first.calls.map((call) => [call.id, call.turns]),
    [[ids[21], turnsOfCall]],
  )
  t.match(first.calls[0]?.matches, [{ index: 7, text: 'When do you find a needle?' }])
  t.equal(first.next?.id, ids[3], 'the page has searched all calls but the oldest three')
  const second = await search(first.next)
  t.same(
    second.calls.map((call) => call.id),
    [ids[1], ids[0]],
  )
  t.equal(second.next, null)
})
