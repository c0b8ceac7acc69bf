/** Callbacks that are placed over the simulated carrier. */
import t, { type Test } from 'tap'
import { systemIds } from '../../runtime/timing/clock.ts'
import { call, faultOf } from '../platform/setup.ts'
import { openDatabase } from '../process/database.ts'
import { hasEnded, type PhoneCallRow } from './call-rows.ts'
import { callWhen, eventsWithType, newestInbound, startPhones } from './phones.ts'

const phones = await startPhones()
const sql = openDatabase(phones.server)
t.teardown(() => Promise.all([sql.end({ timeout: 1 }), phones.close()]))

const hourMs = 3_600_000
const shopPhone = '+15005550006'

type Shown = { id: string; status: string; failure_cause: string | null; created_session_id: string | null }
const shown = async (id: string) => (await call(phones, 'GET', `/v1/callbacks/${id}`)).json<Shown>()

/** An ended call, so that a callback can be promised in it. */
const endedCall = (settings: object) => endedSession('/v1/sessions/phone', { to: shopPhone, ...settings })

async function endedSession(path: string, settings: object): Promise<string> {
  const started = await call(phones, 'POST', path, settings)
  if (started.status >= 300) throw new Error(started.text)
  const { sessionId } = started.json<{ sessionId: string }>()
  await call(phones, 'POST', `/v1/calls/${sessionId}/end`)
  await callWhen(phones, sessionId, ({ ended_at }) => ended_at !== null)
  return sessionId
}

/** Stores an agent's promised callback, as the call's conversation does. */
async function promise(
  sourceId: string,
  agentId: string | null,
  more: { toNumber?: string; dueMs?: number },
): Promise<string> {
  const id = systemIds.callback()
  const due = new Date(more.dueMs ?? phones.clock.nowMs() + hourMs)
  await sql`
    insert into callbacks (organization_id, test, id, source_session_id, agent_id, to_number, scheduled_at, status, reason,
      instructions, created_at, updated_at, tries, next_try_at)
    select organization_id, test, ${id}, id, ${agentId}, ${more.toNumber ?? shopPhone}, ${due}, 'scheduled', 'The price',
      'Say the price first.', now(), now(), 0, ${due} from calls where id = ${sourceId}`
  return id
}

const noteOf = ({ transcript }: PhoneCallRow) =>
  transcript.entries.filter(({ source }) => source === 'system').map(({ text }) => text)

t.test('dispatchCallback calls the number with the agent of the session', async (t) => {
  const { agentId } = phones
  const sourceId = await endedCall({ agentId, metadata: { cart: '4711' }, webhookTags: { team: 'shop' } })
  const id = await promise(sourceId, agentId, {})
  const dispatched = await call(phones, 'POST', `/v1/callbacks/${id}/dispatch`)
  t.equal(dispatched.status, 200, dispatched.text)
  const callback = dispatched.json<Shown>()
  t.match(callback, {
    status: 'dispatched',
    failure_cause: null,
    dispatched_at: String,
    from_number: phones.number,
    phone_number_id: /^pn_/,
  })
  const made = await callWhen(phones, callback.created_session_id ?? '', (row) => noteOf(row).length > 0)
  t.match(made, { direction: 'outbound', from: phones.number, to: shopPhone, agent_id: agentId, kind: 'outbound' })
  t.match(made['metadata'], { cart: '4711', callbackId: id, direction: 'outbound' })
  const [tagged] = await sql<{ tags: object }[]>`select webhook_tags as tags from calls where id = ${made.id}`
  t.same(tagged?.tags, { team: 'shop' })
  t.same(noteOf(made), ['Say the price first.'])
  await call(phones, 'POST', `/v1/calls/${made.id}/end`)
  const again = await call(phones, 'POST', `/v1/callbacks/${id}/dispatch`)
  t.same(faultOf(again), { status: 409, code: 'CALLBACK_NOT_SCHEDULED' })
})

t.test('if the carrier refuses the call of dispatchCallback, the callback stays scheduled', async (t) => {
  const { agentId } = phones
  const id = await promise(await endedCall({ agentId }), agentId, { toNumber: '+15005550001' })
  const refused = await call(phones, 'POST', `/v1/callbacks/${id}/dispatch`)
  t.same(faultOf(refused), { status: 502, code: 'CARRIER_DIAL_FAILED' })
  const { sessionId } = refused.json<{ details: { sessionId: string } }>().details
  t.match((await call(phones, 'GET', `/v1/calls/${sessionId}`)).json(), { status: 'failed' }, 'the call that was made')
  t.match(await shown(id), { status: 'scheduled', failure_cause: 'carrier_error', created_session_id: null })
})

t.test('if a session had no agent, its due callback uses the settings of the session', async (t) => {
  const intent = { language: 'en-US' }
  const tool = (name: string, more: object) => ({
    name,
    description: 'Asks the stock.',
    source: { kind: 'webhook', url: `${phones.receiver.url}/stock`, ...more },
  })
  const source = { kind: 'builtin', name: 'schedule_callback', config: { phoneNumberId: `pn_${'0'.repeat(22)}` } }
  const again = { name: 'schedule_callback', description: 'Promises a call from a number that is gone.', source }
  const tools = [tool('stock', {}), tool('secret_stock', { secret: 'a secret of the tool' }), again]
  const settings = { intent, systemPrompt: 'You sell bicycles to {{name}}.', variables: { name: 'Anna' }, tools }
  const sourceId = await endedCall(settings)
  const id = await promise(sourceId, null, { dueMs: phones.clock.nowMs() - 1000 })
  const callback = await callbackWhen(id, ({ created_session_id }) => created_session_id !== null)
  t.equal(callback.status, 'dispatched')
  const made = (await call(phones, 'GET', `/v1/calls/${callback.created_session_id}`)).json<PhoneCallRow>()
  const { pipeline_config: pipeline } = made as PhoneCallRow & { pipeline_config: { tools: { name: string }[] } }
  t.equal(made.from, phones.number)
  t.match(pipeline, { systemPrompt: 'You sell bicycles to Anna.', intent })
  t.same(
    pipeline.tools.map(({ name }) => name),
    ['stock', 'schedule_callback'],
    'without the tool whose secret was removed with the session',
  )
  await call(phones, 'POST', `/v1/calls/${made.id}/end`)
})

t.test("if a session had no agent, its callback does not render variables' values as templates", async (t) => {
  const intent = { language: 'en-US' }
  const texts = {
    systemPrompt: 'You help {{ name }}.',
    firstMessage: '{{ greeting }}',
    firstMessageMode: 'message',
    endCallMessage: 'Goodbye, {{ name }}.',
    idleRePrompts: { enabled: true, messages: ['Are you there, {{ name }}?'] },
  }
  const textsOf = ({ pipeline_config }: Record<string, unknown>) => {
    const { systemPrompt, firstMessage, endCallMessage, idleRePrompts } = pipeline_config as typeof texts
    return [systemPrompt, firstMessage, endCallMessage, idleRePrompts.messages]
  }
  for (const name of ['Anna {{ system.direction }}', 'Anna {% raw', '{% endraw %}{{ name }}']) {
    for (const greeting of [`Hello ${name}`, ' ']) {
      const sourceId = await endedSession('/v1/sessions', { intent, ...texts, variables: { name, greeting } })
      const source = await callWhen(phones, sourceId, () => true)
      const rendered = [`You help ${name}.`, greeting.trim() || null, `Goodbye, ${name}.`, [`Are you there, ${name}?`]]
      t.same(textsOf(source), rendered, name)
      const dispatched = await call(phones, 'POST', `/v1/callbacks/${await promise(sourceId, null, {})}/dispatch`)
      t.equal(dispatched.status, 200, dispatched.text)
      const made = await call(phones, 'GET', `/v1/calls/${dispatched.json<Shown>().created_session_id}`)
      t.same(textsOf(made.json<PhoneCallRow>()), rendered, name)
      await call(phones, 'POST', `/v1/calls/${made.json<PhoneCallRow>().id}/end`)
    }
  }
})

/** Changes a callback's row as if its process had died before it stored the result of the attempt to place the call. */
const dies = (id: string, sessionId: string) => sql`
  update callbacks set status = 'dispatching', created_session_id = null, lease_id = ${sessionId}, leased_until = now(),
    next_try_at = now() - interval '1 minute', scheduled_at = now() - interval '1 minute', tries = 1 where id = ${id}`

async function callbackWhen(id: string, is: (callback: Shown) => boolean): Promise<Shown> {
  let callback = await shown(id)
  await phones.clock.until(`callback ${id}`, async () => {
    callback = await shown(id)
    return is(callback)
  })
  return callback
}

const callsOf = (id: string) => sql<{ id: string }[]>`select id from calls where metadata->>'callbackId' = ${id}`

t.test('if a process died after it placed the call of a callback, the call is not placed again', async (t) => {
  const { agentId } = phones
  const id = await promise(await endedCall({ agentId }), agentId, {})
  const dispatched = await call(phones, 'POST', `/v1/callbacks/${id}/dispatch`)
  const sessionId = dispatched.json<Shown>().created_session_id ?? ''
  await dies(id, sessionId)
  const callback = await callbackWhen(id, ({ status }) => status !== 'dispatching')
  t.match(callback, { status: 'dispatched', created_session_id: sessionId, from_number: phones.number })
  t.same(await callsOf(id), [{ id: sessionId }])
  await call(phones, 'POST', `/v1/calls/${sessionId}/end`)

  await dies(id, sessionId)
  await sql`update callbacks set scheduled_at = now() + interval '1 hour', next_try_at = now() + interval '1 hour' where id = ${id}`
  t.match(await callbackWhen(id, ({ status }) => status !== 'dispatching'), { status: 'scheduled' })
  const again = await call(phones, 'POST', `/v1/callbacks/${id}/dispatch`)
  t.match(again.json(), { status: 'dispatched', created_session_id: sessionId }, 'nor by request')
  t.same(await callsOf(id), [{ id: sessionId }])
})

t.test('if a process died before it placed the call of a callback, the call is placed', async (t) => {
  const { agentId } = phones
  const id = await promise(await endedCall({ agentId }), agentId, {})
  const sessionId = systemIds.session()
  await dies(id, sessionId)
  const callback = await callbackWhen(id, ({ status }) => status !== 'dispatching')
  t.match(callback, { status: 'dispatched', created_session_id: sessionId })
  await call(phones, 'POST', `/v1/calls/${sessionId}/end`)

  const other = await promise(await endedCall({ agentId }), agentId, {})
  await sql`update call_legs set carrier_leg_id = null where call_id = ${sessionId}`
  await dies(other, sessionId)
  const tried = await callbackWhen(other, ({ status }) => status !== 'dispatching')
  t.match(tried, { status: 'scheduled', failure_cause: 'carrier_error' }, 'the carrier did not take it: tried later')
})

t.test(
  'in callbacks and inbound calls a variable without a value becomes empty text, and an event of the call lists it',
  async (t) => {
    const greeting = {
      firstMessage: 'Hello {{ customer }}, this is the shop.',
      systemPrompt: 'You help {{ customer }}.',
    }
    const wanted = { ...greeting, name: 'Greets by name', intent: { language: 'en-US' } }
    const agentId = (await call(phones, 'POST', '/v1/agents', wanted)).json<{ id: string }>().id
    const direct = await call(phones, 'POST', '/v1/sessions/phone', { to: shopPhone, agentId })
    t.match(faultOf(direct), { status: 400, code: 'MISSING_TEMPLATE_VARIABLES' })

    const variables = { customer: 'Anna' }
    const id = await promise(await endedCall({ agentId, variables }), agentId, {})
    const dispatched = await call(phones, 'POST', `/v1/callbacks/${id}/dispatch`)
    t.equal(dispatched.status, 200, dispatched.text)
    await greetsNobody(t, dispatched.json<Shown>().created_session_id ?? '')

    await sql`update phone_numbers set agent_id = ${agentId}`
    const known = new Set((await sql<{ id: string }[]>`select id from calls`).map((row) => row.id))
    await call(phones, 'POST', '/simulator/calls', { from: shopPhone, to: phones.number, lines: ['Goodbye.'] })
    await greetsNobody(t, await newestInbound(phones, known))
  },
)

async function greetsNobody(t: Test, callId: string): Promise<void> {
  const events = await eventsWithType(phones, callId, 'call.variables_missing')
  t.same(
    events
      .filter(({ event_type }) => event_type === 'call.variables_missing')
      .map(({ payload }) => payload['variables']),
    [['customer']],
  )
  const made = (await call(phones, 'GET', `/v1/calls/${callId}`)).json<PhoneCallRow>()
  t.match(made['pipeline_config'], { firstMessage: 'Hello , this is the shop.', systemPrompt: 'You help .' })
  await call(phones, 'POST', `/v1/calls/${callId}/end`)
  await callWhen(phones, callId, hasEnded)
}

t.test('a callback of a disabled organization is not called', async (t) => {
  const { agentId } = phones
  const id = await promise(await endedCall({ agentId }), agentId, {})
  await sql`update organizations set is_disabled = true`
  await sql`update callbacks set scheduled_at = now(), next_try_at = now() where id = ${id}`
  type Tried = { status: string; failure: string | null; session: string | null }
  const read = async () =>
    (
      await sql<Tried[]>`
      select status, failure_cause as failure, created_session_id as session from callbacks where id = ${id}`
    )[0]
  await phones.clock.until('it was tried', async () => (await read())?.failure !== null)
  t.strictSame({ ...(await read()) }, { status: 'scheduled', failure: 'no_phone_number', session: null })
  await sql`update organizations set is_disabled = false`
})
