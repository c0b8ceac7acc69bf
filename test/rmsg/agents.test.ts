/** Tests an agent's setting `rmsg`, which moves numbers from the pool to the agent and back. */
import t from 'tap'
import { call, faultOf, startOwnAdministered } from '../platform/setup.ts'
import { openDatabase } from '../process/database.ts'
import { fc } from '../random.ts'
import type { Target } from '../router/requests.ts'
import { insertRmsgNumber } from './stored-number.ts'

const { parley, admin } = await startOwnAdministered(t)
const sql = openDatabase(parley)
t.teardown(() => sql.end())

type Shown = { id: string; rmsg: { enabled?: boolean; mode?: string; phoneNumberId?: string | null } | null }
type Acme = Target & { id: string }
const dedicated = { enabled: true, mode: 'dedicated' }
const unavailable = { status: 409, code: 'RMSG_NUMBER_UNAVAILABLE' }
const least = (name: string) => ({ name, systemPrompt: 'x', intent: { language: 'en' } })

let last = 300
const pooled = ({ id }: Acme, more: object = {}) => {
  last += 1
  return insertRmsgNumber(sql, { e164: `+15005550${last}`, organizationId: id, ...more })
}
async function organization(name: string): Promise<Acme> {
  const made = await admin.organization(name, { scopes: ['platform', 'rmsg'] })
  await admin.store.organizations.change(made.id, { rmsgEnabled: true })
  return made
}
const create = (acme: Acme, name: string, rmsg?: object) => call(acme, 'POST', '/v1/agents', { ...least(name), rmsg })
const change = (acme: Acme, id: string, rmsg: object | null) => call(acme, 'PATCH', `/v1/agents/${id}`, { rmsg })
const held = async (acme: Acme) =>
  Object.fromEntries(
    (await call(acme, 'GET', '/v1/rmsg-phone-numbers'))
      .json<{ id: string; agentId: string | null }[]>()
      .map(({ id, agentId }) => [id, agentId]),
  )

t.test('createAgent and updateAgent: a dedicated agent takes the oldest free active number', async (t) => {
  const acme = await organization('takes')
  const paused = await pooled(acme, { status: 'paused' })
  const lost = await pooled(acme, { status: 'unavailable' })
  const [first, second] = [await pooled(acme), await pooled(acme)]
  const made = await create(acme, 'A', dedicated)
  t.equal(made.status, 201, made.text)
  const a = made.json<Shown>()
  t.same(a.rmsg, { ...dedicated, phoneNumberId: first })
  const b = (await create(acme, 'B')).json<Shown>()
  t.equal(b.rmsg, null)
  t.same((await change(acme, b.id, dedicated)).json<Shown>().rmsg, { ...dedicated, phoneNumberId: second })
  t.same(await held(acme), { [paused]: null, [lost]: null, [first]: a.id, [second]: b.id })
  t.same(faultOf(await create(acme, 'C', dedicated)), unavailable)
  t.match((await call(acme, 'GET', '/v1/agents')).json<Shown[]>(), [{ id: b.id }, { id: a.id }], 'no third agent')
})

t.test('updateAgent: a chosen number must be in the pool, active and free', async (t) => {
  const acme = await organization('names')
  const other = await organization('of another organization')
  const [first, second, paused] = [await pooled(acme), await pooled(acme), await pooled(acme, { status: 'paused' })]
  const [theirs, unpooled] = [await pooled(other), await pooled(acme, { organizationId: null })]
  const a = (await create(acme, 'A', { ...dedicated, phoneNumberId: second })).json<Shown>()
  t.equal(a.rmsg?.phoneNumberId, second)
  const b = (await create(acme, 'B')).json<Shown>()
  for (const phoneNumberId of [second, paused])
    t.same(faultOf(await change(acme, b.id, { ...dedicated, phoneNumberId })), unavailable)
  for (const phoneNumberId of [theirs, unpooled, '019aaaf6-7c00-7d5e-9b3a-2f1c8e4d6a80', 'x', 'x'.repeat(64)]) {
    const answer = await change(acme, b.id, { ...dedicated, phoneNumberId })
    t.same(faultOf(answer), { status: 404, code: 'NOT_FOUND' })
    t.match(answer.json(), { error: /^\/rmsg\/phoneNumberId / })
  }
  t.equal((await call(acme, 'GET', `/v1/agents/${b.id}`)).json<Shown>().rmsg, null, 'a refused change does nothing')
  t.equal((await change(acme, a.id, { ...dedicated, phoneNumberId: first })).json<Shown>().rmsg?.phoneNumberId, first)
  t.same(await held(acme), { [first]: a.id, [second]: null, [paused]: null }, 'the number before is free')
})

t.test('updateAgent: the number is free again if the agent is switched off, shared or deleted', async (t) => {
  const acme = await organization('frees')
  const number = await pooled(acme)
  const { id } = (await create(acme, 'A', dedicated)).json<Shown>()
  for (const rmsg of [
    { enabled: false, mode: 'dedicated' },
    { mode: 'dedicated' },
    { enabled: true, mode: 'shared' },
    { enabled: true },
    {},
    null,
  ]) {
    t.equal((await change(acme, id, dedicated)).json<Shown>().rmsg?.phoneNumberId, number)
    t.same((await change(acme, id, rmsg)).json<Shown>().rmsg, rmsg)
    t.same(await held(acme), { [number]: null }, JSON.stringify(rmsg))
  }
  await change(acme, id, dedicated)
  await call(acme, 'DELETE', `/v1/agents/${id}`)
  t.same(await held(acme), { [number]: null })
})

t.test('updateAgent: the agent keeps its number if the setting is omitted or sent again unchanged', async (t) => {
  const acme = await organization('stays')
  await pooled(acme)
  const number = await pooled(acme)
  const { id } = (await create(acme, 'A', { ...dedicated, phoneNumberId: number })).json<Shown>()
  const renamed = await call(acme, 'PATCH', `/v1/agents/${id}`, { name: 'B' })
  t.same(renamed.json<Shown>().rmsg, { ...dedicated, phoneNumberId: number })
  t.equal((await change(acme, id, dedicated)).json<Shown>().rmsg?.phoneNumberId, number)
  await sql`update rmsg_numbers set agent_id = null where id = ${number}`
  const read = (await call(acme, 'GET', `/v1/agents/${id}`)).json<Shown>()
  t.same(read.rmsg, { ...dedicated, phoneNumberId: null }, 'the operator has taken it away')
})

t.test('a test agent is never assigned a live number', async (t) => {
  const acme = await organization('worlds')
  await pooled(acme)
  const test = { ...(await admin.key(acme.id, { test: true })), id: acme.id }
  t.same(faultOf(await create(test, 'A', dedicated)), unavailable)
})

t.test("each field of an agent's setting `rmsg` (rich messages) is validated", async (t) => {
  const acme = await organization('bounds')
  for (const [rmsg, at] of [
    [{ enabled: 'yes' }, '/rmsg/enabled'],
    [{ mode: 'own' }, '/rmsg/mode'],
    [{ phoneNumberId: '' }, '/rmsg/phoneNumberId'],
    [{ phoneNumberId: 'x'.repeat(65) }, '/rmsg/phoneNumberId'],
    [{ number: 1 }, '/rmsg/number'],
  ] as const)
    t.same(faultOf(await create(acme, 'A', rmsg)), { status: 400, code: 'VALIDATION_ERROR', paths: [at] })
})

t.test('simultaneous requests never give one number to two agents', async (t) => {
  const acme = await organization('at once')
  const numbers = [await pooled(acme), await pooled(acme), await pooled(acme)]
  const agents: string[] = []
  for (const name of ['A', 'B', 'C', 'D', 'E']) agents.push((await create(acme, name)).json<Shown>().id)
  const step = fc.record({
    agent: fc.constantFrom(...agents),
    rmsg: fc.oneof(
      { weight: 3, arbitrary: fc.constant<object | null>(dedicated) },
      { weight: 3, arbitrary: fc.constantFrom(...numbers).map((phoneNumberId) => ({ ...dedicated, phoneNumberId })) },
      { weight: 1, arbitrary: fc.constantFrom<(object | null)[]>(null, { enabled: true }, {}) },
    ),
  })
  let refused = 0
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 8 }), async (steps) => {
      const answers = await Promise.all(steps.map(({ agent, rmsg }) => change(acme, agent, rmsg)))
      for (const answer of answers)
        if (answer.status !== 200) {
          if (faultOf(answer).code !== unavailable.code) throw new Error(answer.text)
          refused += 1
        }
      const shown = (await call(acme, 'GET', '/v1/agents')).json<Shown[]>()
      const byAgent = shown.flatMap(({ id, rmsg }) => (rmsg?.phoneNumberId ? [[rmsg.phoneNumberId, id]] : []))
      const asDedicated = shown.filter(({ rmsg }) => rmsg?.mode === 'dedicated').length
      if (byAgent.length !== asDedicated) throw new Error('a dedicated agent without a number')
      const byNumber = Object.entries(await held(acme)).filter(([, agent]) => agent !== null)
      if (JSON.stringify(byAgent.sort()) !== JSON.stringify(byNumber.sort())) throw new Error('two agents, or none')
    }),
    { numRuns: 25 },
  )
  t.ok(refused > 0, `${refused} requests found no number`)
})
