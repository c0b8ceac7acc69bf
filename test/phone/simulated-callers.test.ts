/** The clients that may let a simulated person call. */
import t from 'tap'
import { openDatabase } from '../process/database.ts'
import { until } from '../process/machine.ts'
import { startParley } from '../process/parley.ts'

const asked = { to: '+15005550100', lines: ['Goodbye.'] }

async function statusOf(url: string, headers: Record<string, string> = {}, more: object = {}): Promise<number> {
  const body = JSON.stringify({ ...asked, ...more })
  const all = { 'content-type': 'application/json', ...headers }
  return (await fetch(`${url}/simulator/calls`, { method: 'POST', headers: all, body })).status
}

t.test('a user of this machine, but no proxy and no page of another site', async (t) => {
  const parley = await startParley()
  t.teardown(() => parley.remove())
  t.equal(await statusOf(parley.url, { 'x-forwarded-for': '203.0.113.7' }), 404)
  t.equal(await statusOf(parley.url, { origin: 'https://elsewhere.example' }), 403)
  t.equal(await statusOf(parley.url), 201)
})

t.test('nobody, on a server with a public address', async (t) => {
  const parley = await startParley({ PARLEY_PUBLIC_URL: 'https://parley.example' })
  t.teardown(() => parley.remove())
  t.equal(await statusOf(parley.url), 404)
})

t.test('of two organizations with one number, the one that is named is called', async (t) => {
  const parley = await startParley()
  t.teardown(() => parley.remove())
  const sql = openDatabase(parley.dataDir)
  t.teardown(() => sql.end())
  const columns = sql`test, e164, source, direction, dispatch_metadata_template, updated_at`
  await sql`insert into organizations (id, name, created_at) values ('org_two', 'two', now())`
  await sql`update phone_numbers set test = true`
  await sql`
    insert into phone_numbers (organization_id, id, created_at, ${columns})
    select 'org_two', 'pn_two', created_at + interval '1 s', ${columns} from phone_numbers`
  const [own] = await sql<{ id: string }[]>`select id from organizations where id <> 'org_two'`
  const called = async (count: number) => {
    const rows = () => sql<{ id: string }[]>`select organization_id as id from calls order by created_at, id`
    await until(`${count} calls`, async () => (await rows()).length >= count)
    return (await rows()).map(({ id }) => (id === own?.id ? 'own' : id))
  }
  await statusOf(parley.url)
  t.same(await called(1), ['own'], 'the one that has had it longest')
  t.equal(await statusOf(parley.url, {}, { organizationId: 'org_two' }), 201)
  t.same(await called(2), ['own', 'org_two'])
  await statusOf(parley.url, {}, { organizationId: 'org_none' })
  await statusOf(parley.url, {}, { organizationId: own?.id })
  t.same(await called(3), ['own', 'org_two', 'own'], 'an organization without the number is not called')
})
