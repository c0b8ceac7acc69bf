/**
 * Tests the pre-call webhook's response before a session: how it is merged, and when it is ignored. It never makes the
 * server refuse the session.
 */
import t from 'tap'
import type { AgentSettings } from '../../domain/records/agent.ts'
import type { PreCallOverrides } from '../../domain/sessions/pre-call.ts'
import type { SessionRequest } from '../../domain/sessions/start.ts'
import { setup, webhook } from './start-setup.ts'

t.test("the pre-call webhook's response overrides a session's request, and is merged like the request", async (t) => {
  const agent: Partial<AgentSettings> = {
    systemPrompt: 'of the agent',
    firstMessage: 'Hello',
    voice: 'auto',
    llmOptions: { temperature: 0.5, maxTokens: 100 },
    stackPreferences: { allowedProviders: { llm: ['a'], stt: ['a'] } },
  }
  const replaced = { ...webhook('find', 'https://old.example/') }
  const state = setup(agent, [replaced])
  const tool = (name: string, description: string) => {
    return { name, description, source: { kind: 'inline' as const } }
  }
  const reply = async (overrides: PreCallOverrides, wanted: Partial<SessionRequest> = {}) => {
    state.reply = { result: 'answered', overrides }
    await state.start({ agentId: 'agent_1', ...wanted })
    return state.calls.at(-1)
  }
  const wanted: Partial<SessionRequest> = {
    intent: { optimizeFor: 'latency' },
    llm: { maxTokens: 200 },
    ttsOptions: { speed: 1.5 },
    tools: [tool('find', 'of the request'), tool('other', 'of the request')],
    metadata: { a: 1, b: 1 },
  }
  const call = await reply(
    {
      intent: { optimizeFor: 'cost' },
      llm: { temperature: 0.1 },
      constraints: { allowedProviders: { stt: ['b'] } },
      ttsOptions: null,
      firstMessage: null,
      voice: null,
      tools: [tool('find', 'of the answer'), tool('third', 'of the answer')],
      metadata: { b: 2, c: null },
    },
    wanted,
  )
  t.match(call?.pipeline, {
    systemPrompt: 'of the agent',
    firstMessage: null,
    firstMessageMode: 'listen',
    voice: null,
    intent: { language: 'en', optimizeFor: 'cost' },
    llm: { temperature: 0.1, maxTokens: 200 },
    constraints: { allowedProviders: { llm: ['a'], stt: ['b'], tts: [] } },
    ttsOptions: { speed: 1 },
  })
  t.same(
    call?.pipeline.tools.map(({ name, description }) => `${name} ${description}`),
    ['find of the answer', 'other of the request', 'third of the answer'],
  )
  t.same(call?.metadata, { a: 1, b: 2, c: null })
  t.match(state.asked[0], { metadata: { a: 1, b: 1 }, pipeline: { firstMessage: 'Hello', llm: { temperature: 0.5 } } })
  t.equal(state.asked[0]?.id, call?.id)
  t.match(state.events, [{ type: 'webhook.pre_call', payload: { result: 'applied', issues: [], duration_ms: 12 } }])
  const reset = await reply({ llm: null, metadata: null, tools: null, speechNormalization: null }, wanted)
  t.match(reset?.pipeline.llm, { temperature: null, maxTokens: 512 })
  t.same(reset?.metadata, {})
  t.same(
    reset?.pipeline.tools.map(({ description }) => description),
    ['old'],
  )
  const templates = await reply({ systemPrompt: 'Hi {{name}}' }, { variables: { name: 'Ada' } })
  t.equal(templates?.pipeline.systemPrompt, 'Hi Ada')
})

t.test("one wrong field invalidates the pre-call webhook's response, and the call keeps its settings", async (t) => {
  const state = setup({ systemPrompt: 'of the agent', firstMessage: 'Hello', firstMessageMode: 'message' })
  const deep = { a: { b: { c: { d: { e: { f: { g: { h: {} } } } } } } } }
  const wrong: [PreCallOverrides, path: string | null][] = [
    [{ intent: { language: 'xx-not-a-tag-at-all' } }, '/intent/language'],
    [{ systemPrompt: '{{ broken' }, '/systemPrompt'],
    [{ systemPrompt: 'Hi {{unknown}}' }, null],
    [{ firstMessage: null }, '/firstMessageMode'],
    [{ llm: { model: 'a:none' } }, '/llm/model'],
    [{ constraints: { allowedProviders: { stt: ['none'] } } }, '/constraints/allowedProviders/stt/0'],
    [{ constraints: { allowedProviders: { llm: ['a:n'] } } }, null],
    [{ voice: 'nobody' }, null],
    [{ metadata: { ...deep, x: 1 } }, '/metadata'],
    [{ metadata: { text: 'x'.repeat(16_400) } }, '/metadata'],
    [{ tools: [inline('a'), inline('a')] }, '/tools/1/name'],
    [{ tools: [withoutValue()] }, '/tools/0/source/authHeaders/0/value'],
  ]
  for (const [overrides, path] of wrong) {
    state.reply = { result: 'answered', overrides: { voice: 'auto', ...overrides, backgroundAudio: {} } }
    state.events.length = 0
    state.queued = 0
    await state.start({ agentId: 'agent_1', metadata: { a: 1 } })
    t.match(state.calls.at(-1), { metadata: { a: 1 }, pipeline: { systemPrompt: 'of the agent', voice: null } })
    const [event] = state.events
    t.match(event?.payload, { result: 'invalid', duration_ms: 12 }, JSON.stringify(overrides).slice(0, 80))
    if (path !== null) t.match(event?.payload['issues'], [{ path }])
  }
  for (const result of ['empty', 'timeout', 'http_error'] as const) {
    state.reply = { result }
    state.queued = 0
    await state.start({ agentId: 'agent_1' })
    t.match(state.events.at(-1)?.payload, { result, issues: [] })
  }
  state.reply = { result: 'invalid', issues: [{ path: '/voice', message: 'm', keyword: 'type' }] }
  state.queued = 0
  await state.start({ agentId: 'agent_1' })
  t.match(state.events.at(-1)?.payload, { result: 'invalid', issues: [{ path: '/voice' }] })
})

t.test("a session has at most 128 tools in total from agent, request and pre-call webhook's response", async (t) => {
  const many = (prefix: string, count: number) => Array.from({ length: count }, (_, at) => inline(`${prefix}_${at}`))
  const ofAgent = Array.from({ length: 64 }, (_, at) => webhook(`agent_${at}`, 'https://tool.example/'))
  const state = setup({}, ofAgent)
  const start = async (ofAnswer: ReturnType<typeof inline>[]) => {
    state.reply = { result: 'answered', overrides: { tools: ofAnswer } }
    state.queued = 0
    await state.start({ agentId: 'agent_1', tools: many('request', 63) })
    return { tools: state.calls.at(-1)?.pipeline.tools.length, event: state.events.at(-1)?.payload }
  }
  t.match(await start(many('answer', 1)), { tools: 128, event: { result: 'applied' } })
  t.match(await start(many('request', 64)), { tools: 128, event: { result: 'applied' } }, 'equal names replace')
  t.match(await start(many('answer', 2)), {
    tools: 127,
    event: { result: 'invalid', issues: [{ path: '/tools', keyword: 'tools_too_many' }] },
  })
})

t.test('if a session is refused, no request is sent to the pre-call endpoint', async (t) => {
  const state = setup({})
  state.reply = { result: 'empty' }
  state.credit.balance = 0
  await t.rejects(state.start({ agentId: 'agent_1' }), { message: 'credit_too_low' })
  await t.rejects(state.start({ agentId: 'agent_1', systemPrompt: '{{ broken' }))
  t.same(state.asked, [])
  state.credit.balance = 1e9
  for (let at = 0; at < 3; at++) await state.start({ agentId: 'agent_1' })
  t.equal(state.asked.length, 3)
  await t.rejects(state.start({ agentId: 'agent_1' }), { message: 'too_many_at_once' })
  t.equal(state.asked.length, 3, 'the queue is full')
  state.queued = 0
  const closed = { allowedProviders: { llm: ['nobody'] } }
  await t.rejects(state.start({ agentId: 'agent_1', constraints: closed }))
  t.equal(state.asked.length, 3, 'nothing can serve it')
  await state.start({ agentId: 'agent_1' })
})

function inline(name: string) {
  return { name, description: 'd', source: { kind: 'inline' as const } }
}

function withoutValue() {
  const source = { kind: 'webhook' as const, url: 'https://tool.example/', authHeaders: [{ name: 'x-key' }] }
  return { name: 'a', description: 'd', source }
}
