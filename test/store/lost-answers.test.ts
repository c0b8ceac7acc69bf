/** Leases of idempotency keys while requests run, and answers that cannot be stored. */
import t from 'tap'
import { storeClock } from '../time/store-clock.ts'
import { TestCluster } from './cluster.ts'
import { keyUse } from './key-use.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

t.test('while a request runs, no process decides that its answer is lost', async (t) => {
  const url = await cluster.database()
  const clock = storeClock()
  const store = await cluster.store(t, url, { clock })
  const other = await cluster.store(t, url, { clock })
  const use = keyUse('org_a', 'long')
  await store.idempotency.admit(use, 'dispatched')
  const end = store.storedAnswers.begin(use)
  for (let passed = 0; passed < 10; passed += 1) {
    await clock.advance(2500)
    t.equal(await other.storedAnswers.find(use), 'running')
  }
  end()
  await clock.advance(10_000)
  t.equal(await other.storedAnswers.find(use), 'lost')
  await store.storedAnswers.keep(use, { status: 200, body: '{}' })
  t.same(await other.storedAnswers.find(use), { status: 200, body: '{}' })
})

t.test("if a request's answer cannot be stored, other running requests keep their leases", async (t) => {
  const url = await cluster.database()
  const clock = storeClock()
  const store = await cluster.store(t, url, { clock })
  const other = await cluster.store(t, url, { clock })
  await cluster.sql(t, url).unsafe(`
    create function full_disk() returns trigger language plpgsql as $$
      begin raise exception using errcode = '53100'; end $$;
    create trigger full_disk before update on idempotency_keys for each row when (new.answer_status is not null)
      execute function full_disk()`)
  const [answered, running] = [keyUse('org_a', 'answered'), keyUse('org_a', 'running')]
  for (const use of [answered, running]) await store.idempotency.admit(use, 'dispatched')
  t.teardown(store.storedAnswers.begin(running))
  await t.rejects(store.storedAnswers.keep(answered, { status: 200, body: '{}' }))
  for (let passed = 0; passed < 10; passed += 1) await clock.advance(2500)
  t.equal(await other.storedAnswers.find(running), 'running')
})
