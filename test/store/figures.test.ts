/** The metrics about waiting work in the database, and about connections to it. */
import t from 'tap'
import { newCall } from '../calls/call.ts'
import { TestClock } from '../clock.ts'
import { organization, TestCluster } from './cluster.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

t.test('the metrics count waiting call reports, uploads and callbacks, with the age of the oldest', async (t) => {
  const clock = new TestClock()
  const url = await cluster.database()
  const store = await cluster.store(t, url, { clock, serves: false })
  const sql = cluster.sql(t, url)
  const { id: organizationId } = await organization(store, 'a')
  const none = { count: 0, oldestMs: 0 }
  t.same((await store.figures()).work, { reports: none, uploads: none, callbacks: none })

  const at = new Date(clock.nowMs())
  const calls = [newCall(organizationId), newCall(organizationId)]
  for (const call of calls) await store.calls.insert(call, {})
  const [first, second] = calls.map(({ id }) => id) as [string, string]
  await sql`update calls set recording_status = 'uploading', ended_at = ${at}, end_reason = 'user_hangup' where id = ${first}`
  await sql`update calls set recording_status = 'uploading' where id = ${second}`
  for (const [id, status] of [
    [first, 'pending'],
    [second, 'analysed'],
  ] as const)
    await sql`
      insert into call_reports (organization_id, test, call_id, version, summary, outcome, analysis_status, custom_data,
        created_at, updated_at)
      values (${organizationId}, ${calls[0]?.test ?? false}, ${id}, 1, '', 'completed', ${status}, '{}', ${at},
        ${at})`
  for (const [id, dueAt] of [
    ['due', at],
    ['later', new Date(clock.nowMs() + 60_000)],
  ] as const)
    await sql`
      insert into callbacks (organization_id, test, id, source_session_id, to_number, scheduled_at, status, created_at,
        updated_at, tries, next_try_at)
      values (${organizationId}, ${calls[0]?.test ?? false}, ${id}, ${first}, '+15005550006', ${dueAt}, 'scheduled', ${at}, ${at}, 0, ${dueAt})`
  await clock.advance(5_000)
  const { work } = await store.figures()
  t.same(work.reports, { count: 1, oldestMs: 5_000 })
  t.same(work.uploads, { count: 1, oldestMs: 5_000 }, 'the call that is live still records')
  t.same(work.callbacks, { count: 1, oldestMs: 5_000 }, 'the other one is not due')
})

t.test("the metrics count the process's connections and all connections of Postgres", async (t) => {
  const url = await cluster.database()
  const store = await cluster.store(t, url, { serves: false })
  const { connections, serverConnections, serverConnectionsMax } = await store.figures()
  const own = connections.active + connections.idle + connections.in_transaction
  t.ok(own > 0 && own <= serverConnections, `${own} of ${serverConnections}`)
  t.ok(serverConnectionsMax >= serverConnections)
})
