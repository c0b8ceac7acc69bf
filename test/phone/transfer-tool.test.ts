/** Agents that transfer their calls over the simulated carrier. */
import t from 'tap'
import { call } from '../platform/setup.ts'
import { hasEnded, type PhoneCallRow } from './call-rows.ts'
import { callWhen, eventsWithType, startPhones } from './phones.ts'

const phones = await startPhones()
t.teardown(() => phones.close())

/**
 * The agent must choose the destination with this label. The rule-based LLM chooses it because the person has "a
 * question about your opening hours". On a busy machine the last words may be understood late, and then an agent that
 * has waited answers without them.
 */
const label = 'Question'
const sales = { to: '+15005550017', label: 'Sales' }

const toolOf = (config: object) => ({
  name: 'transfer_call',
  description: 'Transfers a question about opening hours.',
  source: { kind: 'builtin', name: 'transfer_call', config },
})

async function calling(config: object): Promise<string> {
  const agent = {
    name: `Exchange ${JSON.stringify(config).length}`,
    systemPrompt: 'You connect callers.',
    intent: { language: 'en-US' },
    llmOptions: { model: 'local:scripted' },
    firstMessage: 'Hello, this is the exchange.',
  }
  const { id } = (await call(phones, 'POST', '/v1/agents', agent)).json<{ id: string }>()
  const tool = await call(phones, 'POST', `/v1/agents/${id}/tools`, toolOf(config))
  t.equal(tool.status, 201, tool.text)
  const started = await call(phones, 'POST', '/v1/sessions/phone', { to: '+15005550006', agentId: id })
  return started.json<{ sessionId: string }>().sessionId
}

const attempts = (row: PhoneCallRow) =>
  (row['transfers'] as { label: string | null; status: string; failure_cause: string | null }[]).map(
    ({ label: name, status, failure_cause }) => [name, failure_cause ?? status],
  )

t.test('transfer_call: a warm transfer calls the chosen destination first, then the others', async (t) => {
  const id = await calling({ kind: 'warm', destinations: [sales, { to: '+15005550003', label, description: 'Times' }] })
  const done = await callWhen(phones, id, (row) => row.status === 'in_progress' && attempts(row).length === 2)
  t.same(attempts(done), [
    [label, 'busy'],
    ['Sales', 'completed'],
  ])
  await call(phones, 'POST', `/v1/calls/${id}/end`)
  t.match(await callWhen(phones, id, hasEnded), { status: 'completed' })
})

t.test('transfer_call: if a blind transfer fails, no other phone is called, and the agent goes on', async (t) => {
  const id = await calling({ kind: 'blind', destinations: [sales, { to: '+15005550003', label }] })
  const back = await callWhen(phones, id, (row) => row.status === 'in_progress' && attempts(row).length === 1)
  t.same(attempts(back), [[null, 'busy']])
  const events = await eventsWithType(phones, id, 'agent.tool_completed')
  const ofTools = events.filter(({ event_type }) => event_type.startsWith('agent.tool_'))
  t.match(ofTools, [{ event_type: 'agent.tool_started' }, { event_type: 'agent.tool_completed' }])
  await call(phones, 'POST', `/v1/calls/${id}/end`)
  await callWhen(phones, id, hasEnded)
})

t.test("transfer_call: the error for a wrong setting has the setting's path", async (t) => {
  const cases = [
    [{ destinations: [sales] }, '/kind'],
    [{ kind: 'blind' }, '/destinations'],
    [{ kind: 'blind', destinations: [{ to: '+15550001111', label }] }, '/destinations/0/to'],
    [{ kind: 'blind', destinations: [sales, sales] }, '/destinations/1/label'],
    [{ kind: 'blind', destinations: [sales], screeningTimeout: 20 }, '/screeningTimeout'],
    [{ kind: 'warm', destinations: [sales], playDialtone: true }, '/playDialtone'],
    [{ kind: 'warm', destinations: [sales], enabled: true }, '/enabled'],
    [{ kind: 'warm', destinations: [sales], from: '+15550001111' }, '/from'],
  ] as const
  const { agentId } = phones
  for (const [config, path] of cases) {
    const answer = await call(phones, 'POST', `/v1/agents/${agentId}/tools`, toolOf(config))
    t.equal(answer.status, 400, answer.text)
    t.match(answer.json<{ issues: { path: string }[] }>().issues, [{ path: `/source/config${path}` }])
  }
})
