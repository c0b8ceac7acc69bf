/** Conversations: the sent and received messages of two numbers, in pages, with filters, for one organization. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { Tenant } from '../../domain/records/organization.ts'
import { conversationIdOf } from '../../domain/records/rmsg-message.ts'
import { call, faultOf, startOwnAdministered } from '../platform/setup.ts'
import { openDatabase } from '../process/database.ts'
import { until } from '../process/machine.ts'
import type { Target } from '../router/requests.ts'
import { masterKey, postEvent, receivedEvent } from './provider-events.ts'
import { insertRmsgNumber } from './stored-number.ts'

const { parley, admin } = await startOwnAdministered(t, { PARLEY_MASTER_KEY: masterKey })
const sql = openDatabase(parley)
t.teardown(() => sql.end())

type Conversation = { id: string; remoteNumber: string; messages: number; lastMessage: object; lastMessageAt: string }
type List = { conversations: Conversation[]; nextCursor: string | null }
type Message = { id: string; direction: string; status: string; text: string | null }
type Page = { conversation: Conversation; messages: Message[]; nextCursor: string | null }

const listed = async (target: Target, query = '') =>
  (await call(target, 'GET', `/v1/conversations?${query}`)).json<List>()
const read = async (target: Target, id: string, query = '') =>
  (await call(target, 'GET', `/v1/conversations/${id}/messages?${query}`)).json<Page>()

let last = 700
/** Makes an organization with an agent and a number. `agentOf` makes another agent with a number. */
async function shopWith() {
  const scopes = ['platform', 'rmsg'] as const
  const { id: organizationId, ...shop } = await admin.organization(`shop ${last}`, { scopes })
  await admin.store.organizations.change(organizationId, { rmsgEnabled: true })
  const agentOf = async () => {
    last += 1
    const e164 = `+15005550${last}`
    const wanted = { name: `Agent ${last}`, systemPrompt: 'x', intent: { language: 'en' } }
    const { id: agent } = (await call(shop, 'POST', '/v1/agents', wanted)).json<{ id: string }>()
    const number = await insertRmsgNumber(sql, { e164, organizationId, agentId: agent })
    await call(shop, 'PATCH', `/v1/agents/${agent}`, {
      rmsg: { enabled: true, mode: 'dedicated', phoneNumberId: number },
    })
    return { agent, number, e164, identity: `identity-${e164}` }
  }
  return { shop, organizationId, agentOf, ...(await agentOf()) }
}

const startMs = Date.parse('2026-11-21T16:00:00.000Z')
/** Stores a sent message, `atS` seconds after the start. Returns its conversation's id. */
async function insertSent(tenant: Tenant, number: string, to: string, atS: number): Promise<string> {
  const conversationId = conversationIdOf(number, to)
  const message = { ...tenant, id: randomUUID(), phoneNumberId: number, conversationId, to, tags: {} }
  const createdAtMs = startMs + atS * 1000
  await admin.store.rmsgMessages.insert({ ...message, status: 'delivered', channel: 'sms', createdAtMs }, 'Ready.')
  return conversationId
}

t.test('a sent message and its answer are one conversation, without a subscription and without texts', async (t) => {
  const { shop, agent, number, e164, identity } = await shopWith()
  t.same(await listed(shop), { conversations: [], nextCursor: null })
  const sending = { to: '+15005550199', text: 'Your k4n4ry is ready.', tags: { team: 'shop' } }
  const sent = await call(shop, 'POST', `/v1/rmsg/${agent}/messages`, sending)
  const { messageId, conversationId } = sent.json<{ messageId: string; conversationId: string }>()
  await until('delivered', async () => (await read(shop, conversationId)).messages[0]?.status === 'delivered')
  const answer = receivedEvent(identity, 'Thanks for the k4n4ry.')
  for (let times = 0; times < 2; times++) t.equal(await postEvent(parley.url, answer), 200)
  const { conversations, nextCursor } = await listed(shop)
  t.match(conversations, [
    {
      ...{ id: conversationId, phoneNumberId: number, phoneNumber: e164, agentId: agent },
      ...{ remoteNumber: '+15005550199', messages: 2 },
      lastMessage: { direction: 'inbound', channel: 'rmsg', status: 'received', text: null },
    },
  ])
  t.equal(nextCursor, null)
  const page = await read(shop, conversationId)
  t.same(page.conversation, conversations[0])
  t.match(page.messages, [
    { direction: 'inbound', channel: 'rmsg', status: 'received', text: null, tags: {} },
    { id: messageId, direction: 'outbound', channel: 'rmsg', status: 'delivered', text: null, tags: { team: 'shop' } },
  ])
  const stored = await sql<{ row: string }[]>`select m::text as row from rmsg_messages m`
  t.notMatch(JSON.stringify(stored), 'k4n4ry', 'no text is stored')
})

t.test('texts are stored only while the organization keeps them, and stored texts stay', async (t) => {
  const { shop, organizationId, agent, identity } = await shopWith()
  const owner = await admin.key(organizationId, { scopes: ['admin'] })
  const choose = async (messageText: string) => {
    const changed = await call(owner, 'PATCH', '/v1/organization', { messageText })
    t.match(changed.json(), { messageText })
  }
  const sendTo = async (to: string, text: string) => {
    const sent = await call(shop, 'POST', `/v1/rmsg/${agent}/messages`, { to, text })
    return sent.json<{ conversationId: string }>().conversationId
  }
  const texts = async (id: string) => (await read(shop, id)).messages.map(({ text }) => text)
  await choose('keep')
  const id = await sendTo('+15005550199', 'Your bicycle is ready.')
  t.equal(await postEvent(parley.url, receivedEvent(identity, 'Thanks 🚲\0.')), 200)
  const newestFirst = ['Thanks 🚲\uFFFD.', 'Your bicycle is ready.']
  t.same(await texts(id), newestFirst)
  t.match((await listed(shop)).conversations, [{ lastMessage: { text: 'Thanks 🚲\uFFFD.' } }])
  t.equal(await postEvent(parley.url, receivedEvent(identity, '🚲'.repeat(18_997))), 200)
  t.same(await texts(id), ['🚲'.repeat(18_996), ...newestFirst], 'a text that is too long is cut')
  t.equal(await postEvent(parley.url, receivedEvent(identity, '')), 200)
  t.same((await texts(id))[0], null, 'a message without a text')
  await choose('drop')
  await sendTo('+15005550199', 'The k4n4ry is ready.')
  t.equal(await postEvent(parley.url, receivedEvent(identity, 'Thanks for the k4n4ry.')), 200)
  t.same((await texts(id)).slice(0, 3), [null, null, null])
  t.same((await texts(id)).slice(-2), newestFirst)
  t.notMatch(JSON.stringify(await sql`select text from rmsg_messages`), 'k4n4ry')
})

t.test('conversations come in pages by their last message, and filters choose among them', async (t) => {
  const { shop, organizationId, agentOf, agent, number } = await shopWith()
  const tenant = { organizationId, test: false }
  const other = await agentOf()
  const people = ['1', '2', '3', '4', '5'].map((digit) => `+1500555100${digit}`)
  const ids: string[] = []
  // Each conversation has a message of the first minute, and the newer messages come in the reverse order.
  for (const [at, to] of people.entries()) {
    const from = at < 3 ? number : other.number
    await insertSent(tenant, from, to, at)
    ids.push(await insertSent(tenant, from, to, 100 - at))
  }
  const walked: string[] = []
  let cursor: string | null = ''
  for (let pages = 0; cursor !== null; pages++) {
    t.ok(pages < 3, 'five conversations are three pages of two')
    const page: List = await listed(shop, `limit=2${cursor && `&cursor=${cursor}`}`)
    walked.push(...page.conversations.map(({ id }) => id))
    cursor = page.nextCursor
  }
  t.same(walked, ids, 'the newest first, and each once')
  const found = async (query: string) => (await listed(shop, query)).conversations.map(({ id }) => id)
  t.same(await found(`agentId=${agent}`), ids.slice(0, 3))
  t.same(await found(`phoneNumberId=${other.number}`), ids.slice(3))
  t.same(await found(`number=${encodeURIComponent(people[1] ?? '')}`), [ids[1]])
  t.same(await found('number=1004'), [ids[3]])
  t.same(await found('number=4100'), [], 'digits in the middle')
  t.same(await found(`agentId=${agent}&number=1004`), [], 'all filters must hold')
  const at = (s: number) => new Date(startMs + s * 1000).toISOString()
  t.same(await found(`since=${at(98)}&until=${at(100)}`), [ids[1], ids[2]])
  t.same(await found(`until=${at(50)}`), [], 'a message that is not the last does not count')
  const [first = ''] = ids
  const { messages, nextCursor } = await read(shop, first, 'limit=1')
  const rest = await read(shop, first, `limit=1&cursor=${nextCursor}`)
  t.equal(rest.nextCursor, null)
  t.not(rest.messages[0]?.id, messages[0]?.id)
  t.equal(rest.conversation.messages, 2)
})

t.test('organizations that had the same number one after the other see only their own messages', async (t) => {
  const first = await shopWith()
  const second = await shopWith()
  const person = '+15005551100'
  const { number, e164 } = first
  const id = await insertSent({ organizationId: first.organizationId, test: false }, number, person, 0)
  const testKey = await admin.key(first.organizationId, { test: true })
  for (const stranger of [second.shop, testKey]) {
    t.same(await listed(stranger), { conversations: [], nextCursor: null })
    const refused = await call(stranger, 'GET', `/v1/conversations/${id}/messages`)
    t.same(faultOf(refused), { status: 404, code: 'NOT_FOUND' })
  }
  await sql`update rmsg_numbers set organization_id = ${second.organizationId}, agent_id = null where id = ${number}`
  await insertSent({ organizationId: second.organizationId, test: false }, number, person, 1)
  for (const { shop } of [first, second]) {
    const { conversation, messages } = await read(shop, id)
    t.match(conversation, { phoneNumber: e164, agentId: null, messages: 1 })
    t.equal(messages.length, 1)
  }
  await sql`delete from rmsg_numbers where id = ${number}`
  t.match((await listed(first.shop)).conversations, [{ id, phoneNumber: null }])
})

t.test('wrong parameters are refused, and an unknown conversation is not found', async (t) => {
  const { shop } = await shopWith()
  for (const query of ['limit=101', 'limit=0', 'number=abc', 'cursor=MTIz', 'agentId=x', 'since=yesterday'])
    t.match(faultOf(await call(shop, 'GET', `/v1/conversations?${query}`)), { status: 400, code: 'VALIDATION_ERROR' })
  for (const id of [randomUUID(), 'x', randomUUID().toUpperCase()])
    t.equal((await call(shop, 'GET', `/v1/conversations/${id}/messages`)).status, 404)
})

t.test('a page that has read its most messages says where the next page begins', async (t) => {
  const { shop, organizationId, number } = await shopWith()
  const tenant = { organizationId, test: false }
  const old = await insertSent(tenant, number, '+15005551201', 0)
  const busy = await insertSent(tenant, number, '+15005551202', 1)
  await sql`
    insert into rmsg_messages (organization_id, test, id, phone_number_id, conversation_id, remote_number, tags, status,
      created_at, updated_at)
    select organization_id, test, gen_random_uuid(), phone_number_id, conversation_id, remote_number, tags, status,
      created_at + n * interval '1 second', updated_at
    from rmsg_messages, generate_series(1, 20000) n where conversation_id = ${busy}`
  const { conversations, nextCursor } = await listed(shop)
  t.match(conversations, [{ id: busy, messages: 1000 }])
  const next = await listed(shop, `cursor=${nextCursor}`)
  t.same(
    next.conversations.map(({ id }) => id),
    [old],
  )
  t.equal(next.nextCursor, null)
  t.match(
    await listed(shop, 'number=1201'),
    { conversations: [], nextCursor: String },
    'the last digits need two pages',
  )
  const found = await listed(shop, 'number=%2B15005551201')
  t.match(found, { conversations: [{ id: old }], nextCursor: null }, 'a whole number needs one page')
})
