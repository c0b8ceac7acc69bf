/** Tests which clients may simulate an inbound call. */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { packageFile } from '../../runtime/package-file.ts'
import { judgedFetch } from '../oracle.ts'
import { call, openAdministration } from '../platform/setup.ts'
import { openDatabase } from '../process/database.ts'
import { until } from '../process/machine.ts'
import type { Target } from '../router/requests.ts'
import { ownServer } from '../server.ts'
import { loopbackAgent, loopbackProviders } from '../session/voice-session.ts'
import { openWordEngines } from './engines.ts'

const asked = { to: '+15005550100', lines: ['Goodbye.'] }

const parts = { engines: openWordEngines }

async function statusOf(
  { url, key }: Target,
  headers: Record<string, string> = {},
  more: object = {},
): Promise<number> {
  const body = JSON.stringify({ ...asked, ...more })
  const all = { 'content-type': 'application/json', ...(key !== '' && { authorization: `Bearer ${key}` }), ...headers }
  return (await judgedFetch(`${url}/simulator/calls`, { method: 'POST', headers: all, body })).status
}

const proxyHeaders = [
  ...['X-Forwarded-For', 'x-forwarded-host', 'x-forwarded-proto', 'x-forwarded-port', 'Forwarded', 'Via', 'X-Real-IP'],
  ...['CF-Connecting-IP', 'True-Client-IP', 'X-Original-Host', 'CDN-Loop'],
]

t.test("a local user with an API key may simulate a call, but a proxy or another site's page may not", async (t) => {
  const parley = await ownServer(t, {}, parts)
  for (const name of proxyHeaders) t.equal(await statusOf(parley, { [name]: '203.0.113.7' }), 404, name)
  t.equal(await statusOf(parley, { origin: 'https://elsewhere.example' }), 403)
  t.equal(await statusOf(parley), 201)
  t.equal(await statusOf({ ...parley, key: '' }), 401, 'behind a proxy without headers every stranger is local')
  t.equal(await statusOf({ ...parley, key: `sk_live_${'x'.repeat(40)}` }), 401)
  const admin = await openAdministration(parley)
  t.teardown(() => admin.close())
  const tenant = await admin.organization('tenant')
  const clock = {
    method: 'POST',
    headers: { authorization: `Bearer ${tenant.key}`, 'content-type': 'application/json' },
  }
  const moved = await judgedFetch(`${parley.url}/simulator/clock`, { ...clock, body: '{"advanceMs":1}' })
  t.equal(moved.status, 403, 'all organizations share the clock')
})

t.test(
  'on a server with a public URL nobody simulates an inbound call, but agents call simulated phones',
  async (t) => {
    const settings = { PARLEY_PUBLIC_URL: 'https://parley.example', PARLEY_PROVIDERS: loopbackProviders }
    const parley = await ownServer(t, settings, parts)
    t.equal(await statusOf(parley), 404)
    const started = await call(parley, 'POST', '/v1/sessions/phone', { to: '+15005550006', ...loopbackAgent })
    t.equal(started.status, 200, started.text)
    const { sessionId } = started.json<{ sessionId: string }>()
    await until('the answer', async () =>
      /"status":"(in_progress|completed)"/.test((await call(parley, 'GET', `/v1/calls/${sessionId}`)).text),
    )
  },
)

t.test("if two organizations have the same number, a simulated call reaches the API key's organization", async (t) => {
  const parley = await ownServer(t, {}, parts)
  const sql = openDatabase(parley)
  t.teardown(() => sql.end())
  const admin = await openAdministration(parley)
  t.teardown(() => admin.close())
  const two = await admin.organization('two')
  const columns = sql`test, e164, source, direction, dispatch_metadata_template, updated_at`
  await sql`update phone_numbers set test = true`
  await sql`
    insert into phone_numbers (organization_id, id, created_at, ${columns})
    select ${two.id}, 'pn_two', created_at + interval '1 s', ${columns} from phone_numbers`
  const [own] = await sql<{ id: string }[]>`select id from organizations where id <> ${two.id}`
  const called = async (count: number) => {
    const rows = () => sql<{ id: string }[]>`select organization_id as id from calls order by created_at, id`
    await until(`${count} calls`, async () => (await rows()).length >= count)
    return (await rows()).map(({ id }) => (id === own?.id ? 'own' : 'two'))
  }
  t.equal(await statusOf(two), 201)
  t.same(await called(1), ['two'])
  t.equal(await statusOf(two, {}, { organizationId: own?.id }), 403)
  t.equal(await statusOf(parley, {}, { organizationId: two.id }), 403)
  t.equal(await statusOf(parley, {}, { organizationId: own?.id }), 201)
  t.same(await called(2), ['two', 'own'])
})

t.test('a simulated call with a wrong field is refused with a hint to docs/simulator.md', async (t) => {
  const parley = await ownServer(t, {}, parts)
  const page = readFileSync(packageFile('docs/simulator.md'), 'utf8')
  const wrong = { lines: [''], from: 'nobody', headers: [{}], forwarding: 1, organizationId: '', to: '' }
  for (const [field, value] of Object.entries(wrong)) {
    const body = JSON.stringify({ ...asked, [field]: value })
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${parley.key}` }
    const answer = await judgedFetch(`${parley.url}/simulator/calls`, { method: 'POST', headers, body })
    const { error } = (await answer.json()) as { error: { param: string; hint: string } }
    t.equal(answer.status, 400, field)
    t.ok(error.param.startsWith(`/${field}`), error.param)
    t.equal(error.hint, 'Correct what param points at; docs/simulator.md lists the fields and bounds.')
    t.match(page, `\n| \`${field}\` |`, `docs/simulator.md has ${field}`)
  }
})
