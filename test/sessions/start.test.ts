import t from 'tap'
import type { AgentSettings } from '../../domain/records/agent.ts'
import { Fault } from '../../domain/records/fault.ts'
import { ResourceFault } from '../../domain/records/resource-fault.ts'
import type { SessionRequest } from '../../domain/sessions/start.ts'
import { intent, setup, webhook } from './start-setup.ts'

t.test('a session without an agent has every default', async (t) => {
  const { start, calls, warmed } = setup()
  const started = await start({ intent })
  t.same(warmed, ['stt', 'llm', 'tts'], 'their engines are started')
  t.match(started, {
    transport: 'websocket',
    url: `ws://parley/v1/sessions/${started.id}/media`,
    roomName: `room-${started.id}`,
    identity: /^user_/,
    expiresAtMs: 1_700_000_900_000,
  })
  const [call] = calls
  t.match(call, { status: 'queued', kind: 'browser', agentId: null, keyId: 'key_1', expiresAtMs: 1_700_000_900_000 })
  t.match(call?.pipeline, {
    agentName: null,
    intent: { language: 'en', optimizeFor: 'balanced', region: null },
    firstMessage: null,
    firstMessageMode: 'listen',
    llm: { temperature: null, maxTokens: 512, model: null, reasoningEffort: null },
    ttsOptions: { speed: 1, sampleRate: 24_000 },
    idleRePrompts: { enabled: false, delayMs: 8000, maxPrompts: 2, messages: [] },
    turnHandling: {
      profile: 'conversational',
      endpointing: { minDelay: 250, maxDelay: 2500 },
      turnDetection: 'text',
      interruption: { mode: 'adaptive', minDuration: 200, minWords: 0, falseTimeout: 2000, protectFirstMessage: false },
      preemptiveGeneration: true,
    },
    maxDurationSeconds: 3600,
    silenceTimeoutSeconds: 60,
    maxToolHops: 8,
    timezone: 'UTC',
    recording: true,
    tools: [],
  })
  t.match(call?.pipeline.systemPrompt, /voice assistant/)
})

t.test('a session in a LiveKit room returns the URL and the token for the media server', async (t) => {
  const { start, calls, watched } = setup(null, [], true)
  const started = await start({ intent, transport: 'livekit', identity: 'visitor', ttlSeconds: 60 })
  const room = `room-${started.id}`
  const expiresAtMs = 1_700_000_060_000
  t.match(started, {
    transport: 'livekit',
    url: 'wss://rooms.example',
    roomName: room,
    identity: 'visitor',
    expiresAtMs,
  })
  t.same(JSON.parse(started.token), { room, identity: 'visitor', expiresAtMs })
  t.equal(calls[0]?.pipeline.transport, 'livekit')
  t.match(watched, [{ room, sessionId: started.id, identity: 'visitor', keyId: 'key_1', expiresAtMs }])
  const other = await start({ intent, transport: null })
  t.equal(other.transport, 'websocket')
  t.equal(calls[1]?.pipeline.transport, 'websocket')
  t.equal(watched.length, 1)
})

t.test('a session takes each field from the request, else from the agent, and null gives the default', async (t) => {
  const agent: Partial<AgentSettings> = {
    systemPrompt: 'of the agent',
    firstMessage: 'Hello',
    llmOptions: { temperature: 0.5, maxTokens: 100 },
    stackPreferences: { allowedProviders: { llm: ['a'], stt: ['a'] } },
    turnHandling: { profile: 'ivr', endpointing: { maxDelay: 9000 } },
    ttsOptions: { speed: 1.5 },
    idleRePrompts: { enabled: true },
  }
  const { start, calls } = setup(agent)
  await start({
    agentId: 'agent_1',
    intent: { optimizeFor: 'latency' },
    llm: { maxTokens: 200 },
    constraints: { allowedProviders: { stt: ['b'] } },
    ttsOptions: { sampleRate: 16_000 },
    idleRePrompts: null,
    firstMessage: null,
  })
  t.match(calls[0]?.pipeline, {
    agentName: 'of a test',
    systemPrompt: 'of the agent',
    firstMessage: null,
    firstMessageMode: 'listen',
    intent: { language: 'en', optimizeFor: 'latency' },
    llm: { temperature: 0.5, maxTokens: 200 },
    constraints: { allowedProviders: { llm: ['a'], stt: ['b'], tts: [] } },
    turnHandling: { endpointing: { minDelay: 800, maxDelay: 9000 } },
    ttsOptions: { speed: 1.5, sampleRate: 16_000 },
    idleRePrompts: { enabled: false },
  })
})

t.test('templates of a session are rendered once, with variables of request, agent and system', async (t) => {
  const { start, calls } = setup({
    systemPrompt: '{{greeting}} {{name}}, {{place | default: "here"}} {{system.weekday}} {{system.unknown}}',
    firstMessage: 'I am {{system.agent_name}}',
    promptVariables: [{ name: 'greeting', defaultValue: 'Hi' }, { name: 'name' }],
    timezone: 'Asia/Tokyo',
  })
  await start({ agentId: 'agent_1', variables: { name: '{{system.now}}', unused: 'x' } })
  t.match(calls[0]?.pipeline, {
    systemPrompt: 'Hi {{system.now}}, here Wednesday ',
    firstMessage: 'I am of a test',
  })
  t.match(await refused(start({ agentId: 'agent_1' })), { data: { kind: 'variables_missing', names: ['name'] } })
})

t.test('tools of the request are added to the tools of the agent, and replace them by name', async (t) => {
  const { start, calls, secrets } = setup({}, [
    webhook('look_up', 'https://old.example/a'),
    webhook('book', 'https://b.example/'),
  ])
  const source = { kind: 'webhook' as const, url: 'https://new.example/', secret: 'whsec_new' }
  await start({ agentId: 'agent_1', tools: [{ name: 'look_up', description: 'new', source }] })
  t.same(
    calls[0]?.pipeline.tools.map(({ name, description }) => [name, description]),
    [
      ['look_up', 'new'],
      ['book', 'old'],
    ],
  )
  t.match(secrets[0], { look_up: { secret: 'whsec_new' }, book: { secret: 'whsec_old' } })
  t.notMatch(JSON.stringify(calls), /whsec/, 'the secrets are apart')
})

t.test('each error in the settings of a session is refused before the browser joins', async (t) => {
  const { start } = setup({ turnHandling: { endpointing: { minDelay: 3000, maxDelay: 4000 } } })
  const issues = async (wanted: SessionRequest) => {
    const { data } = await refused(start(wanted))
    return data.kind === 'invalid' ? data.issues.map(({ path }) => path.join('/')) : [data.kind]
  }
  t.same(await issues({}), ['intent'])
  t.same(await issues({ agentId: 'agent_2' }), ['not_found'])
  t.same(await issues({ intent: { language: 'x-' } }), ['intent/language'])
  t.same(await issues({ intent, llm: { model: 'nobody/none' } }), ['llm/model'])
  t.same(await issues({ intent, constraints: { allowedProviders: { stt: ['nobody'] } } }), [
    'constraints/allowedProviders/stt/0',
  ])
  t.same(await issues({ intent, systemPrompt: '{% if' }), ['systemPrompt'])
  const deep = (levels: number): Record<string, unknown> => (levels === 1 ? { a: 1 } : { a: deep(levels - 1) })
  t.same(await issues({ intent, metadata: deep(9) }), ['metadata'])
  t.same(await issues({ intent, metadata: { a: 'x'.repeat(16_377) } }), ['metadata'])
  await start({ intent, metadata: { ...deep(8), b: 'x'.repeat(16_000) } })
  t.same(await issues({ intent, systemPrompt: '{% for i in (1..9000000) %}a{% endfor %}' }), ['systemPrompt'])
  t.same(await issues({ intent, firstMessageMode: 'message' }), ['firstMessageMode'])
  t.same(await issues({ agentId: 'agent_1', turnHandling: { endpointing: { minDelay: 2600 } } }), [
    'turnHandling/endpointing/minDelay',
  ])
  t.same(await issues({ intent, voice: 'nobody' }), ['voice'])
  t.same(await issues({ intent, transport: 'livekit' }), ['transport'])
})

t.test('a session needs credit, a session limit that is not reached, and a provider route', async (t) => {
  const poor = setup()
  poor.credit.balance = 0
  t.match(await failed(poor.start({ intent })), { kind: 'credit_too_low' })
  await t.resolves(poor.start({ intent }, { test: true }), 'a test session takes no credit')

  const full = setup()
  full.maxSessions = 1
  full.live = 1
  t.match(await failed(full.start({ intent })), { data: { kind: 'too_many_at_once', limit: 'organization' } })

  const unjoined = setup()
  unjoined.queued = 2
  await t.resolves(unjoined.start({ intent }))
  unjoined.queued = 3
  t.match(await failed(unjoined.start({ intent })), { data: { kind: 'too_many_at_once', limit: 'organization' } })

  const flooded = setup()
  const flood = await Promise.allSettled(Array.from({ length: 40 }, () => flooded.start({ intent })))
  t.equal(flooded.calls.length, 3, 'many starts at once do not pass the limit together')
  t.equal(flood.filter(({ status }) => status === 'fulfilled').length, 3)
  flooded.queued = 0
  await t.resolves(flooded.start({ intent }), 'those that were refused are not counted any more')

  const { start } = setup()
  t.match(await failed(start({ intent, constraints: { allowedProviders: { llm: ['b:n'] } } })), {
    data: { kind: 'language_unsupported', stage: 'llm', by: 'not_allowed' },
  })
})

t.test('speech-to-text options limit which providers a session may use', async (t) => {
  const { start } = setup()
  const of = (sttOptions: NonNullable<SessionRequest['sttOptions']>, stt = 'b:listens') =>
    start({ intent, sttOptions, constraints: { allowedProviders: { stt: [stt] } } })
  await of({ keywords: ['Parley'], language: 'auto' })
  await of({}, 'b:m')
  const lacks = (capability: string) => ({ data: { kind: 'capability_missing', stage: 'stt', capability } })
  t.match(await failed(of({ keywords: ['Parley'] }, 'b:m')), lacks('keywords'))
  t.match(await failed(of({ prompt: 'A call.' })), lacks('prompt'))
  const blind = { data: { kind: 'language_unsupported', stage: 'stt', tag: 'auto' } }
  t.match(await failed(of({ language: 'auto' }, 'b:english')), blind, 'a model of one language detects none')
})

async function refused(work: Promise<unknown>): Promise<ResourceFault> {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  if (error instanceof ResourceFault) return error
  throw new Error('it was not refused', { cause: error })
}

async function failed(work: Promise<unknown>): Promise<Fault> {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  if (error instanceof Fault) return error
  throw new Error('it did not fail', { cause: error })
}
