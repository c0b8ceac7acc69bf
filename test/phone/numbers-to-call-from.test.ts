/** Tests the caller's number in outbound calls: a requested number, or the server's choice. */
import t from 'tap'
import { call, faultOf, startOwnAdministered } from '../platform/setup.ts'
import { openDatabase } from '../process/database.ts'
import type { Target } from '../router/requests.ts'
import { insertNumber } from './stored-number.ts'

const { parley, admin } = await startOwnAdministered(t)
const sql = openDatabase(parley)
t.teardown(() => sql.end())

let made = 0
const nextNumber = () => `+1212555${String(1000 + made++)}`
const intent = { intent: { language: 'en' } }

/**
 * Makes an organization with an agent and a function to add numbers. A number counts as older if it is added earlier.
 */
async function openOrganization(name: string) {
  const acme = await admin.organization(name)
  const wanted = { name: 'Desk', systemPrompt: 'Be brief.', ...intent }
  const agentId = (await call(acme, 'POST', '/v1/agents', wanted)).json<{ id: string }>().id
  const add = async (isOfAgent: boolean, direction: 'inbound' | 'outbound' = 'outbound') => {
    const e164 = nextNumber()
    const id = await insertNumber(sql, { organizationId: acme.id, test: false }, { e164, direction })
    await sql`update phone_numbers set agent_id = ${isOfAgent ? agentId : null} where id = ${id}`
    return { id, e164 }
  }
  return { acme, agentId, add }
}

/** Dials a phone that rings and is never answered. */
async function dial(target: Target, body: object) {
  const answer = await call(target, 'POST', '/v1/sessions/phone', { to: '+15005550002', ...body })
  const { sessionId, from } = answer.json<{ sessionId?: string; from?: string }>()
  if (sessionId !== undefined) await call(target, 'POST', `/v1/calls/${sessionId}/end`)
  return { answer, from }
}

t.test(
  "without `from` a call uses the agent's oldest number that can call, else the organization's oldest number",
  async (t) => {
    const { acme, agentId, add } = await openOrganization('chooses')
    const none = (await dial(acme, { agentId })).answer
    t.same(faultOf(none), { status: 400, code: 'VALIDATION_ERROR', paths: ['/from'] }, 'there is no number')
    t.match(none.text, /no phone number of this organization can place calls now.*setupStatus/)
    await add(true, 'inbound')
    t.equal((await dial(acme, { agentId })).answer.status, 400, 'no number may call')
    const [own, first, second] = [await add(false), await add(true), await add(true)]
    t.equal((await dial(acme, intent)).from, own.e164)
    t.equal((await dial(acme, { agentId })).from, first.e164)
    await sql`update phone_numbers set suspended_at = now() where id = ${first.id}`
    t.equal((await dial(acme, { agentId })).from, second.e164)
    await sql`update phone_numbers set order_status = 'pending' where id = ${second.id}`
    t.equal((await dial(acme, { agentId })).from, own.e164)
  },
)

t.test('the number in `from` must belong to the organization and be able to place calls', async (t) => {
  const { acme, agentId, add } = await openOrganization('names')
  const other = await openOrganization('other')
  const test = await admin.key(acme.id, { test: true, scopes: ['platform'] })
  const foreign = await other.add(true)
  const [ready, inbound, suspended, pending] = [
    await add(false),
    await add(true, 'inbound'),
    await add(true),
    await add(true),
  ]
  await sql`update phone_numbers set suspended_at = now() where id = ${suspended.id}`
  await sql`update phone_numbers set order_status = 'pending' where id = ${pending.id}`
  t.equal((await dial(acme, { agentId, from: ready.e164 })).from, ready.e164, 'also a number without an agent')
  for (const { e164 } of [inbound, suspended, pending])
    t.same(faultOf((await dial(acme, { agentId, from: e164 })).answer), { status: 409, code: 'PHONE_NUMBER_NOT_READY' })
  const notOwn = { status: 400, code: 'VALIDATION_ERROR', paths: ['/from'] }
  for (const from of [foreign.e164, '+12125559999'])
    t.same(faultOf((await dial(acme, { agentId, from })).answer), notOwn)
  t.same(faultOf((await dial(test, { ...intent, from: ready.e164 })).answer), notOwn, 'a number of the live world')
})

t.test('a server without a SIP port does not call from a number of a trunk', async (t) => {
  const { acme, agentId, add } = await openOrganization('passes over')
  const trunk = { name: 'Trunk', outbound: { host: 'sip.example.com' } }
  const connection = await call(acme, 'POST', '/v1/phone-numbers/sip-connections', trunk)
  const e164 = nextNumber()
  const sipConnectionInstallationId = connection.json<{ id: string }>().id
  const wanted = { e164, sipConnectionInstallationId, agentId, direction: 'outbound' }
  const imported = await call(acme, 'POST', '/v1/phone-numbers/import', wanted)
  t.match(imported.json(), { setupStatus: { outboundReady: false } }, imported.text)
  const alone = (await dial(acme, { agentId })).answer
  t.same(faultOf(alone), { status: 400, code: 'VALIDATION_ERROR', paths: ['/from'] }, 'it is the only number')
  const managed = await add(false)
  t.equal((await dial(acme, { agentId })).from, managed.e164, 'a younger number, and not of the agent')
  const named = (await dial(acme, { agentId, from: e164 })).answer
  t.same(faultOf(named), { status: 409, code: 'PHONE_NUMBER_NOT_READY' })
})
