/** Tests agent versions over the public API: changes that make a version, its fields, restoring, and If-Match. */
import t from 'tap'
import { openDatabase } from '../process/database.ts'
import { type Answer, send, type Target } from '../router/requests.ts'
import { call, faultOf, startAdministered } from './setup.ts'

const { parley, admin } = await startAdministered(t)

type Agent = Record<string, unknown> & { id: string; version: number }
type Tool = { id: string; name: string; source: Record<string, unknown> }
type Item = { version: number; changed: string[]; createdBy: object | null; restoredFrom: number | null; calls: number }
type Page = { versions: Item[]; nextCursor: string | null }
type Version = Item & { agent: Agent; tools: Tool[] }

const least = { name: 'Front desk', systemPrompt: 'Be brief.', intent: { language: 'en-US' } }

async function made(target: Target, settings: object = {}): Promise<string> {
  return (await call(target, 'POST', '/v1/agents', { ...least, ...settings })).json<Agent>().id
}

const change = (target: Target, id: string, settings: object) => call(target, 'PATCH', `/v1/agents/${id}`, settings)
const addTool = (target: Target, id: string, tool: object) => call(target, 'POST', `/v1/agents/${id}/tools`, tool)
const pageOf = async (target: Target, id: string, query = '') =>
  (await call(target, 'GET', `/v1/agents/${id}/versions?${query}`)).json<Page>()
const versionOf = async (target: Target, id: string, version: number) =>
  (await call(target, 'GET', `/v1/agents/${id}/versions/${version}`)).json<Version>()
const restore = (target: Target, id: string, version: number | string) =>
  call(target, 'POST', `/v1/agents/${id}/versions/${version}/restore`)

function changeFrom(target: Target, id: string, version: string, settings: object): Promise<Answer> {
  const headers = { 'content-type': 'application/json', 'if-match': version }
  return send(target, `/v1/agents/${id}`, { method: 'PATCH', body: JSON.stringify(settings), headers })
}

const webhook = (url: string, more: object = {}) => ({ kind: 'webhook', url, ...more })
const secret = { authHeaders: [{ name: 'x-key', value: 'k4n4ry' }] }

t.test(
  'each change of a setting or a tool makes a version, and a request that changes nothing makes none',
  async (t) => {
    const acme = await admin.organization('versions')
    const id = await made(acme, { firstMessage: 'Hello.' })
    t.equal((await change(acme, id, { firstMessage: 'Good day.', voice: null })).json<Agent>().version, 2)
    t.equal(
      (await change(acme, id, { firstMessage: 'Good day.', intent: { language: 'en-US' } })).json<Agent>().version,
      2,
    )
    t.equal((await change(acme, id, {})).json<Agent>().version, 2)
    const tool = { name: 'find_order', description: 'Finds an order.', source: webhook('https://a.example/', secret) }
    const { id: toolId } = (await addTool(acme, id, tool)).json<Tool>()
    const ofTool = `/v1/agents/${id}/tools/${toolId}`
    await call(acme, 'PATCH', ofTool, { description: 'Finds one order.' })
    await call(acme, 'PATCH', ofTool, { description: 'Finds one order.' })
    await call(acme, 'PATCH', ofTool, {
      source: webhook('https://a.example/', { authHeaders: [{ name: 'x-key', value: 'k5' }] }),
    })
    await call(acme, 'DELETE', ofTool)
    const { versions, nextCursor } = await pageOf(acme, id)
    t.equal(nextCursor, null)
    const createdBy = { type: 'api_key', id: acme.keyId, name: 'of a test' }
    const item = { createdBy, restoredFrom: null, calls: 0 }
    t.match(versions, [
      { ...item, version: 5, changed: ['tools.find_order'] },
      { ...item, version: 4, changed: ['tools.find_order'] },
      { ...item, version: 3, changed: ['tools.find_order'] },
      { ...item, version: 2, changed: ['firstMessage'] },
      { ...item, version: 1, changed: ['firstMessage', 'intent', 'name', 'systemPrompt'] },
    ])
    t.equal((await call(acme, 'GET', `/v1/agents/${id}`)).json<Agent>().version, 5)
  },
)

t.test('getAgentVersion shows the agent and its tools as they were, without secrets', async (t) => {
  const acme = await admin.organization('as it was')
  const id = await made(acme, { rmsg: { enabled: true, mode: 'shared' } })
  const before = (await call(acme, 'GET', `/v1/agents/${id}`)).json<Agent>()
  const source = webhook('https://a.example/', secret)
  const created = await addTool(acme, id, { name: 'a', description: 'x\u0000', source })
  await addTool(acme, id, { name: 'b', description: 'y', source: { kind: 'builtin', name: 'end_call' } })
  await change(acme, id, { systemPrompt: 'Be \u0000 long.', voice: 'auto' })
  t.same((await versionOf(acme, id, 1)).agent, before)
  t.same((await versionOf(acme, id, 2)).tools, [created.json()])
  const newest = await call(acme, 'GET', `/v1/agents/${id}/versions/4`)
  t.match(newest.json<Version>(), { agent: { systemPrompt: 'Be \u0000 long.', voice: 'auto', version: 4 } })
  t.same(
    newest.json<Version>().tools.map(({ name }) => name),
    ['b', 'a'],
    'newest first',
  )
  t.notMatch(newest.text, /k4n4ry/)
  for (const version of ['0', '5', '01', 'x', '2147483648', '99999999999'])
    t.same(faultOf(await call(acme, 'GET', `/v1/agents/${id}/versions/${version}`)), { status: 404, code: 'NOT_FOUND' })
})

t.test('restoreAgentVersion brings settings and tools back as a new version', async (t) => {
  const acme = await admin.organization('restoring')
  const id = await made(acme, { voice: 'auto' })
  const kept = (
    await addTool(acme, id, { name: 'kept', description: 'x', source: webhook('https://a.example/1', secret) })
  ).json<Tool>()
  const gone = (
    await addTool(acme, id, { name: 'gone', description: 'x', source: webhook('https://b.example/', secret) })
  ).json<Tool>()
  await change(acme, id, { voice: null, name: 'Back desk', firstMessage: 'Hello.' })
  await call(acme, 'DELETE', `/v1/agents/${id}/tools/${gone.id}`)
  await addTool(acme, id, { name: 'gone', description: 'another', source: { kind: 'inline' } })
  await call(acme, 'PATCH', `/v1/agents/${id}/tools/${kept.id}`, { description: 'y' })
  const restored = await restore(acme, id, 3)
  t.equal(restored.status, 200, restored.text)
  t.match(restored.json(), { version: 8, voice: 'auto', name: 'Front desk', firstMessage: null })
  t.same((await call(acme, 'GET', `/v1/agents/${id}`)).json(), restored.json())
  const tools = (await call(acme, 'GET', `/v1/agents/${id}/tools`)).json<Tool[]>()
  t.match(tools, [
    { id: gone.id, name: 'gone', description: 'x', source: { hasSecret: false, authHeaders: null } },
    { id: kept.id, name: 'kept', description: 'x', source: { authHeaders: [{ name: 'x-key', configured: true }] } },
  ])
  const changed = ['firstMessage', 'name', 'tools.gone', 'tools.kept', 'voice']
  const [newest] = (await pageOf(acme, id)).versions
  t.same([...(newest?.changed ?? [])].sort(), changed)
  t.equal(newest?.restoredFrom, 3)
  t.match(await versionOf(acme, id, 8), { tools: [{ id: gone.id }, { id: kept.id }] })
  t.equal((await restore(acme, id, 8)).json<Agent>().version, 8, 'nothing changed')
  t.same(faultOf(await restore(acme, id, 99)), { status: 404, code: 'NOT_FOUND' })
})

t.test(
  'a restored tool keeps its secrets only if the origin of its URL is the same, otherwise they are deleted',
  async (t) => {
    const acme = await admin.organization('origins')
    const id = await made(acme)
    const thief = { name: 'a', description: 'x', source: webhook('https://thief.example/') }
    const { id: toolId } = (await addTool(acme, id, thief)).json<Tool>()
    const ofTool = `/v1/agents/${id}/tools/${toolId}`
    const owned = webhook('https://owner.example/', { ...secret, secret: 'a-secret-of-the-owner' })
    t.equal((await call(acme, 'PATCH', ofTool, { source: owned })).status, 200)
    t.equal((await restore(acme, id, 2)).status, 200)
    const source = { url: 'https://thief.example/', hasSecret: false, authHeaders: null }
    t.match((await call(acme, 'GET', ofTool)).json<Tool>().source, source)
    const sql = openDatabase(parley)
    t.teardown(() => sql.end())
    t.same(await sql`select sealed from agent_tools where id = ${toolId}`, [{ sealed: null }])
    t.same(await sql`select from agent_versions where settings::text || tools::text like '%k4n4ry%'`, [])
  },
)

t.test('restoreAgentVersion refuses a name that another agent has taken, and a model that is gone', async (t) => {
  const acme = await admin.organization('taken')
  const id = await made(acme)
  await change(acme, id, { name: 'Other' })
  await made(acme)
  t.same(faultOf(await restore(acme, id, 1)), { status: 409, code: 'AGENT_NAME_CONFLICT' })
  const sql = openDatabase(parley)
  t.teardown(() => sql.end())
  const gone = JSON.stringify({ ...least, llmOptions: { model: 'gone:gone' } })
  await sql`update agent_versions set settings = ${gone}::text::json where agent_id = ${id} and version = 1`
  const refused = { status: 400, code: 'VALIDATION_ERROR', paths: ['/llmOptions/model'] }
  t.same(faultOf(await restore(acme, id, 1)), refused)
  t.equal((await call(acme, 'GET', `/v1/agents/${id}`)).json<Agent>().version, 2)
})

t.test("updateAgent with If-Match changes nothing if the agent's current version is another", async (t) => {
  const acme = await admin.organization('if match')
  const id = await made(acme)
  t.equal((await changeFrom(acme, id, '"1"', { voice: 'auto' })).json<Agent>().version, 2)
  const refused = await changeFrom(acme, id, '"1"', { voice: null })
  t.same(faultOf(refused), { status: 412, code: 'PRECONDITION_FAILED' })
  t.match(refused.json<{ error: string }>().error, /its version is 2/)
  t.same(faultOf(await changeFrom(acme, id, '"1"', {})), { status: 412, code: 'PRECONDITION_FAILED' })
  t.match((await call(acme, 'GET', `/v1/agents/${id}`)).json(), { version: 2, voice: 'auto' })
  for (const odd of ['2', 'W/"2"', '*', '"1", "2"'])
    t.match(faultOf(await changeFrom(acme, id, odd, {})), { status: 400, code: 'VALIDATION_ERROR' }, odd)
  await Promise.all(Array.from({ length: 8 }, (_, at) => changeFrom(acme, id, '"2"', { firstMessage: `${at}` })))
  t.equal((await call(acme, 'GET', `/v1/agents/${id}`)).json<Agent>().version, 3, 'one of eight changes was made')
})

t.test('listAgentVersions pages, and counts the calls that started with a version', async (t) => {
  const acme = await admin.organization('pages')
  const id = await made(acme)
  for (const voice of ['auto', null, 'auto']) await change(acme, id, { voice })
  const session = await call(acme, 'POST', '/v1/sessions', { agentId: id })
  t.equal(session.status, 201, session.text)
  const { sessionId } = session.json<{ sessionId: string }>()
  await change(acme, id, { voice: null })
  const stored = (await call(acme, 'GET', `/v1/sessions/${sessionId}`)).json<{ pipelineConfig: object }>()
  t.match(stored.pipelineConfig, { agentVersion: 4 })
  const first = await pageOf(acme, id, 'limit=2')
  t.match(first.versions, [
    { version: 5, calls: 0 },
    { version: 4, calls: 1 },
  ])
  const second = await pageOf(acme, id, `limit=3&cursor=${first.nextCursor}`)
  t.same(
    second.versions.map(({ version }) => version),
    [3, 2, 1],
  )
  t.equal(second.nextCursor, null)
  const odd = await call(acme, 'GET', `/v1/agents/${id}/versions?cursor=odd`)
  t.same(faultOf(odd), { status: 400, code: 'VALIDATION_ERROR', paths: ['cursor'] })
})

t.test('an agent keeps its newest versions: 500, or those that fit into 16 MiB', async (t) => {
  const acme = await admin.organization('limits')
  const id = await made(acme)
  const sql = openDatabase(parley)
  t.teardown(() => sql.end())
  await sql`
    insert into agent_versions (organization_id, test, agent_id, version, settings, tools, bytes, changed, created_at)
    select organization_id, test, agent_id, n, settings, tools, bytes, changed, created_at
    from agent_versions, generate_series(2, 600) n where agent_id = ${id}`
  await sql`update agents set version = 600 where id = ${id}`
  await change(acme, id, { voice: 'auto' })
  const kept = () =>
    sql`select count(*)::int as kept, max(version) as newest from agent_versions where agent_id = ${id}`
  t.same(await kept(), [{ kept: 500, newest: 601 }])
  await sql`update agent_versions set bytes = 4194304 where agent_id = ${id} and version between 590 and 600`
  await change(acme, id, { voice: null })
  t.same(await kept(), [{ kept: 5, newest: 602 }])
})

t.test('an agent that was stored before versions existed gets its first version when it is next changed', async (t) => {
  const acme = await admin.organization('before')
  const id = await made(acme)
  const sql = openDatabase(parley)
  t.teardown(() => sql.end())
  await sql`delete from agent_versions where agent_id = ${id}`
  t.same(await pageOf(acme, id), { versions: [], nextCursor: null })
  await addTool(acme, id, { name: 'a', description: 'x', source: { kind: 'inline' } })
  const { versions } = await pageOf(acme, id)
  t.match(versions, [
    { version: 2, changed: ['tools.a'] },
    { version: 1, changed: [], createdBy: null },
  ])
  t.same((await versionOf(acme, id, 1)).tools, [])
  t.equal((await call(acme, 'DELETE', `/v1/agents/${id}`)).status, 200)
  t.same(await sql`select from agent_versions where agent_id = ${id}`, [])
})

t.test("a version shows its author's name and not the email address, which only admins may see", async (t) => {
  const acme = await admin.organization('versions of people')
  const email = 'kim@example.com'
  await admin.store.users.create(acme.id, email, 'member')
  const sql = openDatabase(parley)
  t.teardown(() => sql.end())
  await sql`update users set name = 'Kim Lee' where email = ${email}`
  const issued = await admin.store.users.issue(acme.id, email, 'user_token')
  const kim = { url: parley.url, key: issued?.secret ?? '' }
  const id = await made(kim)
  const createdBy = { type: 'user', name: 'Kim Lee' }
  t.match(await pageOf(acme, id), { versions: [{ version: 1, createdBy }] })
  t.match(await versionOf(acme, id, 1), { createdBy })
})
