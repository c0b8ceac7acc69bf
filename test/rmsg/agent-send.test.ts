/** Tests rich messages that are sent from an agent's number: the refusals in order, and the answer. */
import t from 'tap'
import { call, startOwnAdministered } from '../platform/setup.ts'
import { openDatabase } from '../process/database.ts'
import { postJson, type Target } from '../router/requests.ts'
import { badFields, goodFields } from './message-bounds.ts'
import { insertRmsgNumber } from './stored-number.ts'

const { parley, admin } = await startOwnAdministered(t)
const sql = openDatabase(parley)
t.teardown(() => sql.end())

const message = { to: '+15005550031', text: 'Your bicycle is ready.' }
const sendAs = (target: Target, agent: string, body: object = message, headers: Record<string, string> = {}) =>
  postJson(target, `/v1/rmsg/${agent}/messages`, body, headers)

/** Returns the status and the code; null if the answer has no code. */
async function faultOf(answer: ReturnType<typeof sendAs>): Promise<[number, string | null]> {
  const { status, json } = await answer
  return [status, json<{ code?: string }>().code ?? null]
}

async function newAgent(target: Target, name: string, rmsg?: object): Promise<string> {
  const wanted = { name, systemPrompt: 'x', intent: { language: 'en' }, ...(rmsg && { rmsg }) }
  const answer = await call(target, 'POST', '/v1/agents', wanted)
  if (answer.status >= 300) throw new Error(answer.text)
  return answer.json<{ id: string }>().id
}

t.test("sendAgentMessage: sends from the agent's number, without tags in the answer", async (t) => {
  const agent = await newAgent(parley, 'sends', { enabled: true, mode: 'dedicated' })
  const key = { 'idempotency-key': 'agent-1' }
  const answer = await sendAs(parley, agent, { ...message, tags: { team: 'shop' } }, key)
  t.equal(answer.status, 202, answer.text)
  const [number] = await sql<[{ id: string }]>`select id from rmsg_numbers where agent_id = ${agent}`
  t.match(answer.json(), {
    phoneNumberId: number.id,
    to: message.to,
    attemptedChannel: 'rmsg',
    channel: null,
    fallbackApplied: null,
    deliveryFinal: false,
    status: 'queued',
  })
  t.notOk('tags' in answer.json<object>())
  t.equal(answer.headers.get('deprecation'), null)
  const [row] = await sql`select tags from rmsg_messages where id = ${answer.json<{ messageId: string }>().messageId}`
  t.same(row?.['tags'], { team: 'shop' }, 'they choose who gets the events')
  const repeat = await sendAs(parley, agent, { ...message, tags: { team: 'shop' } }, key)
  t.same([repeat.status, repeat.text], [202, answer.text])
  t.equal(repeat.headers.get('idempotent-replayed'), 'true')
})

t.test('sendAgentMessage accepts each field and Idempotency-Key only within its bounds', async (t) => {
  const { id, ...acme } = await admin.organization('bounds', { scopes: ['platform', 'rmsg'] })
  await admin.store.organizations.change(id, { rmsgEnabled: true })
  await insertRmsgNumber(sql, { e164: '+15005550312', organizationId: id })
  const agent = await newAgent(acme, 'bounded', { enabled: true, mode: 'dedicated' })
  const sent = { ...message, to: '+15005550030' }
  for (const more of goodFields)
    t.equal((await sendAs(acme, agent, { ...sent, ...more })).status, 202, JSON.stringify(more).slice(0, 80))
  for (const more of badFields)
    t.same(
      await faultOf(sendAs(acme, agent, { ...sent, ...more })),
      [400, 'VALIDATION_ERROR'],
      JSON.stringify(more).slice(0, 80),
    )
  for (const [key, status] of [
    ['k', 202],
    ['k'.repeat(256), 202],
    ['k'.repeat(257), 400],
  ] as const)
    t.equal((await sendAs(acme, agent, sent, { 'idempotency-key': key })).status, status, `${key.length} bytes`)
})

t.test('if a request breaks several rules, the first rule in the order of this test is reported', async (t) => {
  const { id, ...acme } = await admin.organization('acme', { scopes: ['platform', 'rmsg'] })
  const change = (changes: Parameters<typeof admin.store.organizations.change>[1]) =>
    admin.store.organizations.change(id, changes)
  const bad = { to: message.to, text: '' }
  const nobody = 'agent_0123456789012345678901'
  t.same(await faultOf(sendAs({ ...acme, key: '' }, nobody)), [401, 'UNAUTHORIZED'])
  t.same(await faultOf(sendAs(await admin.key(id), nobody)), [403, 'FORBIDDEN'])
  t.same(await faultOf(sendAs(acme, nobody)), [403, null], 'rich messages are off for the organization')
  const path = `/v1/rmsg/${nobody}/messages`
  const early: [string, Record<string, string>][] = [
    ['{ no JSON', {}],
    [JSON.stringify(bad), {}],
    ['', {}],
    [JSON.stringify(message), { 'idempotency-key': '' }],
    ['x', { 'content-type': 'text/plain' }],
  ]
  for (const [body, headers] of early)
    t.same(await faultOf(postJson(acme, path, body, headers)), [403, null], `and that comes before ${body}`)
  await change({ rmsgEnabled: true })
  t.same(await faultOf(sendAs(acme, nobody, bad)), [400, 'VALIDATION_ERROR'])
  t.same(await faultOf(sendAs(acme, nobody, { ...message, to: '+15550001111' })), [400, 'VALIDATION_ERROR'])
  t.same(await faultOf(sendAs(acme, nobody)), [404, null])
  const foreign = await newAgent(parley, 'of another organization')
  const answers = await Promise.all([nobody, foreign, 'x'].map((agent) => sendAs(acme, agent)))
  const bodies = answers.map((answer) => JSON.stringify({ ...answer.json<object>(), requestId: '' }))
  t.equal(new Set(bodies).size, 1, 'the agent of another organization is unknown')
  t.same(await faultOf(sendAs(acme, await newAgent(acme, 'off'))), [409, 'RMSG_NOT_ENABLED'])
  const shared = await newAgent(acme, 'shared', { enabled: true, mode: 'shared' })
  t.same(await faultOf(sendAs(acme, shared)), [409, 'DEDICATED_NUMBER_REQUIRED'])
  const number = await insertRmsgNumber(sql, { e164: '+15005550311', organizationId: id })
  const dedicated = await newAgent(acme, 'dedicated', { enabled: true, mode: 'dedicated' })
  await sql`update rmsg_numbers set status = 'paused' where id = ${number}`
  await change({ rmsgBackend: 'receive_only' })
  t.same(await faultOf(sendAs(acme, dedicated)), [409, 'DEDICATED_NUMBER_REQUIRED'])
  await sql`update rmsg_numbers set status = 'active' where id = ${number}`
  t.same(await faultOf(sendAs(acme, dedicated)), [422, 'UNSUPPORTED_BACKEND'])
  await change({ rmsgBackend: 'default' })
  t.equal((await sendAs(acme, dedicated)).status, 202)
  const test = await admin.key(id, { scopes: ['rmsg'], test: true })
  t.same(await faultOf(sendAs(test, dedicated)), [404, null], 'the other world does not know the agent')
})
