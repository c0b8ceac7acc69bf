/** Phone keys over the simulated carrier: a person presses keys, and the agent presses keys. */
import t from 'tap'
import { call } from '../platform/setup.ts'
import { eventsOf, hasEnded, type PhoneCallRow, type PhoneEvent } from './call-rows.ts'
import { callWhen, startPhones } from './phones.ts'

const phones = await startPhones()
t.teardown(() => phones.close())

t.test('keys that a person presses are a turn of the conversation, and the agent answers with keys', async (t) => {
  const digits = { type: 'string', enum: ['12w3#'] }
  const answer = await call(phones, 'POST', '/v1/sessions/phone', {
    to: '+15005550017',
    intent: { language: 'en-US', optimizeFor: 'latency' },
    llm: { model: 'local:scripted' },
    systemPrompt: 'Be brief.',
    firstMessage: 'Please press one to go on.',
    tools: [
      {
        // The rule-based LLM calls a tool if the turn mentions the tool's subject.
        name: 'get_keypad',
        description: 'Presses keys.',
        parameters: { type: 'object', properties: { digits }, required: ['digits'] },
        source: { kind: 'builtin', name: 'send_dtmf' },
      },
    ],
  })
  t.equal(answer.status, 200, answer.text)
  const { sessionId: id } = answer.json<{ sessionId: string }>()
  const isPressed = ({ event_type }: PhoneEvent) => event_type === 'agent.tool_completed'
  const hasCalled = ({ transcript }: PhoneCallRow) =>
    transcript.entries.some(({ tool_calls }) => (tool_calls?.length ?? 0) > 0)
  const row = await callWhen(phones, id, (row) => hasCalled(row) || hasEnded(row))
  t.match(
    row.transcript.entries.find(({ text }) => text.startsWith('[keypad')),
    { source: 'user', text: '[keypad 1]', metadata: { dtmf: true } },
  )
  const events = await eventsOf(phones, id)
  t.match(
    events.find(({ event_type }) => event_type === 'carrier.dtmf'),
    { provider: 'carrier' },
  )
  t.ok(events.some(isPressed), events.map(({ event_type }) => event_type).join(', '))
  await call(phones, 'POST', `/v1/calls/${id}/end`)
})

const wordsOfMenu = ({ transcript }: PhoneCallRow) =>
  transcript.entries.flatMap(({ source, text }) => (source === 'user' ? text : [])).join(' ')

t.test('a phone menu at the other end receives the keys that the agent presses', async (t) => {
  const digits = { type: 'string', enum: ['12w3#'] }
  const answer = await call(phones, 'POST', '/v1/sessions/phone', {
    to: '+15005550010',
    intent: { language: 'en-US', optimizeFor: 'latency' },
    llm: { model: 'local:scripted' },
    systemPrompt: 'Be brief.',
    tools: [
      {
        // Each sentence of the phone menu has the word "press", so one understood sentence is enough for the agent to
        // press the keys.
        name: 'get_press',
        description: 'Presses keys.',
        parameters: { type: 'object', properties: { digits }, required: ['digits'] },
        source: { kind: 'builtin', name: 'send_dtmf' },
      },
    ],
  })
  t.equal(answer.status, 200, answer.text)
  const { sessionId: id } = answer.json<{ sessionId: string }>()
  // The phone menu repeats the pressed keys: "You pressed one, two, three, pound." That may be one turn or two.
  const isRepeated = (row: PhoneCallRow) => /\bone\W+(two|too|to)\W+three\b/i.test(wordsOfMenu(row))
  const row = await callWhen(phones, id, (row) => isRepeated(row) || hasEnded(row))
  t.ok(isRepeated(row), wordsOfMenu(row))
  await call(phones, 'POST', `/v1/calls/${id}/end`)
})
