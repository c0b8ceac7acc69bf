/**
 * Tests agent tools over the public API: values at and beyond each limit, sources, secrets, names, and the number of
 * tools.
 */
import { Buffer } from 'node:buffer'
import t from 'tap'
import { openDatabase } from '../process/database.ts'
import type { Answer, Target } from '../router/requests.ts'
import { ownServer, serverWith } from '../server.ts'
import { borders, object, parameters, source, url, webhook } from './agent-tool-borders.ts'
import { call, faultOf, startAdministered } from './setup.ts'

const { parley, admin } = await startAdministered(t)

type Tool = { id: string; name: string; updatedAt: string; source: Record<string, unknown> } & Record<string, unknown>
const least = { name: 'find', description: 'Finds.', source: webhook }

/** Makes an organization with an agent. Returns them with the path to the agent's tools. */
async function agentOf(name: string): Promise<Target & { id: string; path: string }> {
  const acme = await admin.organization(name)
  return { ...acme, path: await agentPath(acme) }
}

async function agentPath(target: Target): Promise<string> {
  const body = { name: 'Agent', systemPrompt: 'Be brief.', intent: { language: 'en' } }
  const { id } = (await call(target, 'POST', '/v1/agents', body)).json<{ id: string }>()
  return `/v1/agents/${id}/tools`
}

type Acme = Awaited<ReturnType<typeof agentOf>>
const create = (acme: Acme, more: object = {}) => call(acme, 'POST', acme.path, { ...least, ...more })
const change = (acme: Acme, { id }: Tool, body: object) => call(acme, 'PATCH', `${acme.path}/${id}`, body)

async function made(acme: Acme, more: object = {}): Promise<Tool> {
  const answer = await create(acme, more)
  if (answer.status !== 201) throw new Error(answer.text)
  return answer.json<Tool>()
}

t.test('createAgentTool returns the given settings, and null for all other settings', async (t) => {
  const acme = await agentOf('showing')
  const tool = await made(acme)
  t.match(tool.id, /^tool_[0-9A-Za-z]{22}$/)
  t.same(Object.keys(tool).sort(), [
    'agentId',
    'createdAt',
    'description',
    'id',
    'name',
    'parameters',
    'preToolSpeech',
    'source',
    'updatedAt',
  ])
  t.equal(`/v1/agents/${String(tool['agentId'])}/tools`, acme.path)
  t.same([tool['parameters'], tool['preToolSpeech']], [{ type: 'object', properties: {} }, 'auto'])
  const unset = { headers: null, authHeaders: null, timeoutMs: null, responseMode: null, asyncAck: null }
  t.same(tool.source, { kind: 'webhook', url, hasSecret: false, ...unset })
  const inline = await made(acme, { name: 'inline', source: { kind: 'inline' }, preToolSpeech: 'never' })
  t.match(inline, { source: { kind: 'inline', timeoutMs: null }, preToolSpeech: 'never' })
  const builtin = await made(acme, { name: 'builtin', source: { kind: 'builtin', name: 'send_dtmf', config: {} } })
  t.same(builtin.source, { kind: 'builtin', name: 'send_dtmf', config: {} })
  t.match(builtin['parameters'], { type: 'object', required: ['digits'] }, 'as the LLM gets them')
  const list = (await call(acme, 'GET', acme.path)).json<Tool[]>()
  t.same(list, [builtin, inline, tool], 'newest first')
  for (const each of list) t.same((await call(acme, 'GET', `${acme.path}/${each.id}`)).json(), each)
})

t.test('secrets of a tool are stored encrypted, survive an update, and are never returned', async (t) => {
  const acme = await agentOf('secrets')
  const secrets = { secret: 'k4n4ry-secret', authHeaders: [{ name: 'Authorization', value: 'Bearer k4n4ry-value' }] }
  const created = await create(acme, source({ ...secrets, headers: { 'x-shop': 'main' } }))
  const tool = created.json<Tool>()
  const configured = { hasSecret: true, authHeaders: [{ name: 'Authorization', configured: true }] }
  t.match(tool.source, { ...configured, headers: { 'x-shop': 'main' } })
  const changed = await change(acme, tool, source({ authHeaders: [{ name: 'authorization' }], timeoutMs: 500 }))
  t.match(changed.json<Tool>().source, { hasSecret: true, headers: null, timeoutMs: 500 })
  const answers = [
    created,
    changed,
    await call(acme, 'GET', acme.path),
    await change(acme, tool, { description: 'New.' }),
  ]
  for (const { text } of answers) t.notMatch(text, /k4n4ry/)
  t.match(answers.at(-1)?.json(), { description: 'New.', source: { hasSecret: true, timeoutMs: 500 } })

  const sql = openDatabase(parley)
  const rows = await sql<{ row: string; sealed: Buffer | null }[]>`
    select t::text as row, sealed from agent_tools t where organization_id = ${acme.id}`
  t.equal(rows.length, 1)
  for (const { row, sealed } of rows) {
    t.ok(sealed)
    t.notMatch(row, /k4n4ry/)
    t.notMatch(sealed?.toString('latin1') ?? '', /k4n4ry/)
  }
  t.match((await change(acme, tool, source({ secret: null }))).json<Tool>().source, {
    hasSecret: false,
    authHeaders: null,
  })
  t.same(await sql`select sealed, sealed_by, secrets_id from agent_tools where organization_id = ${acme.id}`, [
    { sealed: null, sealed_by: null, secrets_id: null },
  ])
  await sql.end()
})

t.test('a secret that an update omits is kept, unless the tool moves to another origin', async (t) => {
  const acme = await agentOf('origins')
  const secrets = { secret: 'a-long-secret', authHeaders: [{ name: 'x-key', value: 'v' }] }
  const tool = await made(acme, source(secrets))
  const needed = async (more: object, ...paths: string[]) =>
    t.same(faultOf(await change(acme, tool, source(more))), { status: 400, code: 'VALIDATION_ERROR', paths })
  const elsewhere = { url: 'https://other.example/run' }
  await needed({ ...elsewhere, authHeaders: [{ name: 'x-key' }] }, '/source/secret', '/source/authHeaders/0/value')
  await needed({ url: 'https://tools.example:8443/run' }, '/source/secret')
  await needed({ authHeaders: [{ name: 'x-key' }, { name: 'x-new' }] }, '/source/authHeaders/1/value')
  t.match((await call(acme, 'GET', `${acme.path}/${tool.id}`)).json(), tool, 'a refused change changes nothing')
  t.equal(
    (await change(acme, tool, source({ url: 'https://TOOLS.example:443/other', authHeaders: [{ name: 'X-KEY' }] })))
      .status,
    200,
  )
  t.equal((await change(acme, tool, source({ ...elsewhere, ...secrets }))).status, 200)
  t.match((await change(acme, tool, source({ ...elsewhere, secret: null }))).json<Tool>().source, { hasSecret: false })
  t.equal((await change(acme, tool, source(secrets))).status, 200)
  t.equal((await change(acme, tool, { source: { kind: 'inline' } })).status, 200)
  await needed({ authHeaders: [{ name: 'x-key' }] }, '/source/authHeaders/0/value')
  t.match(
    (await change(acme, tool, source({}))).json<Tool>().source,
    { hasSecret: false },
    'another kind drops secrets',
  )
  t.same(faultOf(await create(acme, { name: 'new', ...source({ authHeaders: [{ name: 'a' }] }) })).paths, [
    '/source/authHeaders/0/value',
  ])
})

t.test('updateAgentTool refuses wrong values, resets on null, and applies two simultaneous changes', async (t) => {
  const acme = await agentOf('changing')
  const tool = await made(acme, { parameters: { type: 'object', properties: { b: {}, a: {} } }, preToolSpeech: 'auto' })
  t.same((await change(acme, tool, {})).json(), tool)
  for (const body of [
    { name: 'other' },
    { name: null },
    { agentId: 'x' },
    { description: null },
    { source: null },
    { source: 5 },
    { source: [] },
  ])
    t.same(faultOf(await change(acme, tool, body)), {
      status: 400,
      code: 'VALIDATION_ERROR',
      paths: [`/${Object.keys(body).join()}`],
    })
  const cleared = (await change(acme, tool, { parameters: null, preToolSpeech: null })).json<Tool>()
  const unset = { parameters: { type: 'object', properties: {} }, preToolSpeech: 'auto' }
  t.same(cleared, { ...tool, ...unset, updatedAt: cleared.updatedAt })
  const texts = await Promise.all([
    change(acme, tool, { description: 'x' }),
    change(acme, tool, { preToolSpeech: 'never' }),
  ])
  t.same(
    texts.map(({ status }) => status),
    [200, 200],
  )
  t.match((await call(acme, 'GET', `${acme.path}/${tool.id}`)).json(), { description: 'x', preToolSpeech: 'never' })
})

t.test('deleteAgentTool deletes a tool, and an unknown tool is not found', async (t) => {
  const acme = await agentOf('deleting')
  const tool = await made(acme)
  const notFound = { status: 404, code: 'NOT_FOUND' }
  const other = await agentPath(await admin.key(acme.id, { test: true }))
  for (const path of [
    `${other}/${tool.id}`,
    `${acme.path}/tool_0123456789012345678901`,
    `${acme.path}/%01`,
    `/v1/agents/agent_0123456789012345678901/tools/${tool.id}`,
    `/v1/agents/%01/tools/${tool.id}`,
  ]) {
    for (const method of ['GET', 'DELETE']) t.match(faultOf(await call(acme, method, path)), notFound, path)
    t.match(faultOf(await call(acme, 'PATCH', path, { description: 'x' })), notFound, path)
  }
  for (const path of ['/v1/agents/agent_0123456789012345678901/tools', '/v1/agents/x/tools', other]) {
    t.match(faultOf(await call(acme, 'GET', path)), notFound)
    t.match(faultOf(await call(acme, 'POST', path, least)), notFound)
  }
  const words = async (path: string) => (await call(acme, 'DELETE', path)).json<{ error: string }>().error
  t.match(await words(`${acme.path}/x`), 'There is no tool of this id here.')
  t.match(await words(`${other}/${tool.id}`), 'There is no agent of this id here.')
  const gone = await call(acme, 'DELETE', `${acme.path}/${tool.id}`)
  t.same([gone.status, gone.json()], [200, { deleted: true }])
  t.match(faultOf(await call(acme, 'DELETE', `${acme.path}/${tool.id}`)), notFound)
  t.equal((await create(acme)).status, 201, 'its name is free')
})

t.test('an agent has at most 64 tools with unique names, also for simultaneous requests', async (t) => {
  const acme = await agentOf('limited')
  const race = await Promise.all(Array.from({ length: 4 }, () => create(acme, { name: 'same' })))
  t.same(race.map(({ status }) => status).sort(), [201, 409, 409, 409])
  t.match(faultOf(await create(acme, { name: 'same' })), { status: 409, code: 'TOOL_NAME_CONFLICT' })
  t.equal((await create(acme, { name: 'Same' })).status, 201, 'case counts')
  for (let at = 2; at < 60; at += 1) await create(acme, { name: `tool_${at}` })
  const last = await Promise.all(Array.from({ length: 8 }, (_, at) => create(acme, { name: `last_${at}` })))
  t.same(last.map(({ status }) => status).sort(), [201, 201, 201, 201, 409, 409, 409, 409])
  t.equal((await call(acme, 'GET', acme.path)).json<[]>().length, 64)
  const full = await create(acme, { name: 'full' })
  t.match(faultOf(full), { status: 409, code: 'LIMIT_REACHED' })
  t.match(full.json(), { error: /^There are 64 tools already/ })
})

t.test('each field of a tool is accepted at its limit and refused beyond its limit', async (t) => {
  const acme = await agentOf('borders')
  for (const [path, taken, refused] of borders) {
    const title = `${path} ${JSON.stringify(refused).slice(0, 80)}`
    const yes = await create(acme, taken)
    t.equal(yes.status, 201, `${title} ${yes.text.slice(0, 200)}`)
    t.same(faultOf(await create(acme, refused)), { status: 400, code: 'VALIDATION_ERROR', paths: [path] }, title)
    if (!('name' in refused))
      t.same(faultOf(await change(acme, yes.json<Tool>(), refused)).paths, [path], `PATCH ${title}`)
    await call(acme, 'DELETE', `${acme.path}/${yes.json<Tool>().id}`)
  }
})

t.test('a tool cannot have headers that the HTTP client or the signature sets', async (t) => {
  const acme = await agentOf('headers')
  for (const name of [
    'Host',
    'content-type',
    'Content-Length',
    'connection',
    'transfer-encoding',
    'te',
    'upgrade',
    'user-agent',
    'cookie',
    'webhook-id',
    'Webhook-Signature',
  ]) {
    const both = { headers: { [name]: 'v' }, authHeaders: [{ name, value: 'v' }] }
    t.same(faultOf(await create(acme, source(both))).paths, [`/source/headers/${name}`, '/source/authHeaders/0/name'])
  }
  t.same(faultOf(await create(acme, source({ headers: { Authorization: 'v' } }))).paths, [
    '/source/headers/Authorization',
  ])
})

t.test('if a tool is invalid, the issues in the error response list every invalid field', async (t) => {
  const acme = await agentOf('issues')
  const wrong = await create(acme, {
    parameters: { type: 'string' },
    source: { kind: 'webhook', url: 'http://10.0.0.1', headers: { host: 'x' }, authHeaders: [{ name: 'a' }] },
  })
  t.same(faultOf(wrong).paths, ['/parameters', '/source/url', '/source/headers/host', '/source/authHeaders/0/value'])
  const shape = await create(acme, { name: '', description: '', source: { kind: 'webhook', timeoutMs: 1, extra: 1 } })
  t.same(faultOf(shape).paths?.sort(), ['/description', '/name', '/source/extra', '/source/timeoutMs', '/source/url'])
})

t.test("two tools may have the same schema $id, and no schema can refer to another tool's schema", async (t) => {
  const acme = await agentOf('schemas')
  const own = { type: 'object', $id: 'https://schemas.example/a', properties: { b: { $id: 'b', type: 'string' } } }
  t.equal((await create(acme, { name: 'a', ...parameters(own) })).status, 201)
  t.equal((await create(acme, { name: 'b', ...parameters(own) })).status, 201, 'the same $id again')
  const refers = object({ x: { $ref: 'https://schemas.example/b' } })
  t.same(faultOf(await create(acme, { name: 'c', ...refers })).paths, ['/parameters'], 'of another tool')
  const meta = object({ x: { $ref: 'https://json-schema.org/draft/2020-12/schema' } })
  t.same(faultOf(await create(acme, { name: 'd', ...meta })).paths, ['/parameters'])
  t.equal((await create(acme, { name: 'e', ...object({ x: { type: 'string', 'x-vendor': 1 } }) })).status, 201)
})

t.test('the operator may allow tools in private subnets, also over plain http', async (t) => {
  const other = await serverWith({ PARLEY_OUTBOUND_ALLOWED_SUBNETS: '["10.1.0.0/16", "fd00::/8"]' })
  const acme: Acme = { ...other, id: '', path: await agentPath(other) }
  const outcomes: [string, number][] = [
    ['http://10.1.2.3:9000/run', 201],
    ['https://10.1.2.3/run', 201],
    ['http://[fd00::1]/run', 201],
    ['http://intern.example/run', 201],
    ['http://8.8.8.8/run', 400],
    ['https://10.2.0.1/run', 400],
    ['http://127.0.0.1/run', 400],
  ]
  for (const [at, [address, status]] of outcomes.entries()) {
    const answer: Answer = await create(acme, { name: `t${at}`, ...source({ url: address }) })
    t.equal(answer.status, status, address)
  }
  await t.rejects(
    ownServer(t, { PARLEY_OUTBOUND_ALLOWED_SUBNETS: '["10.1.0.0"]' }),
    /outbound\.allowedSubnets: 10\.1\.0\.0 is no range/,
  )
})
