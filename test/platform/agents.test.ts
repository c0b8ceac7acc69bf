/**
 * Tests agents over the public API: stored and shown fields, values at and beyond each limit, names, the number of
 * agents, and changes.
 */
import t from 'tap'
import { openDatabase } from '../process/database.ts'
import type { Answer, Target } from '../router/requests.ts'
import { call, faultOf, startAdministered } from './setup.ts'

const agentsMax = 5
const { parley, admin } = await startAdministered(t, { PARLEY_LIMITS_AGENTS_MAX: String(agentsMax) })

type Agent = { id: string; name: string; createdAt: string; updatedAt: string } & Record<string, unknown>

const least = { name: 'Front desk', systemPrompt: 'Be brief.', intent: { language: 'en-US' } }
const create = (target: Target, more: object = {}) => call(target, 'POST', '/v1/agents', { ...least, ...more })
const of = ({ id }: Agent) => `/v1/agents/${id}`

async function made(target: Target, more: object = {}): Promise<Agent> {
  const answer = await create(target, more)
  if (answer.status !== 201) throw new Error(answer.text)
  return answer.json<Agent>()
}

const settings = {
  voice: 'auto',
  firstMessage: 'Hello {{ name | default: "you" }}.',
  firstMessageMode: 'message',
  llmOptions: { temperature: 0.4, maxTokens: 300, model: 'local:scripted', reasoningEffort: 'low' },
  stackPreferences: { allowedProviders: { stt: ['local'], llm: ['local:scripted', 'openai'], tts: [] } },
  sttOptions: { keywords: ['Parley'], prompt: 'A call.', language: 'auto' },
  ttsOptions: { speed: 1.5, model: 'local/flite', instructions: 'Calm.', sampleRate: 16_000 },
  backgroundAudio: { ambient: { clip: 'office-ambience', volume: 0.2 }, toolSound: { clip: 'keyboard-typing' } },
  speechNormalization: {
    pronunciationDictionary: { SQL: 'sequel' },
    textReplacements: { asap: 'as soon as possible' },
  },
  idleRePrompts: { enabled: true, delayMs: 3000, maxPrompts: 3, messages: ['Still there?', 'Hello?'] },
  turnHandling: {
    profile: 'ivr',
    endpointing: { minDelay: 500, maxDelay: 3000 },
    turnDetection: 'vad',
    interruption: { mode: 'vad', minDuration: 100, minWords: 1, falseTimeout: 0, protectFirstMessage: true },
    preemptiveGeneration: false,
  },
  voicemail: { action: 'leave_message', message: 'Call {{ system.agent_name }} back.' },
  maxDurationSeconds: 600,
  silenceTimeoutSeconds: 30,
  endCallMessage: 'Goodbye.',
  fallbackMessage: 'One moment {{ this is no template',
  maxToolHops: 4,
  timezone: 'Europe/Berlin',
  recording: false,
  clientOverrides: ['prompt', 'speed'],
  promptVariables: [{ name: 'name', defaultValue: '', description: 'Who calls.' }],
  extractionFields: [
    { name: 'mood', type: 'enum', description: 'How they felt.', options: ['good', 'bad'] },
    { name: 'age', type: 'number', description: 'In years.' },
  ],
  rmsg: { enabled: true, mode: 'shared' },
}

t.test('createAgent and getAgent show the set fields, and null for all other fields', async (t) => {
  const acme = await admin.organization('showing')
  const agent = await made(acme)
  t.match(agent.id, /^agent_[0-9A-Za-z]{22}$/)
  const { id, organizationId, name, systemPrompt, intent, createdAt, updatedAt, ...rest } = agent
  t.same([organizationId, name, systemPrompt, intent], [acme.id, least.name, least.systemPrompt, least.intent])
  t.match(createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  t.equal(updatedAt, createdAt)
  const names = [...Object.keys(settings), 'version', 'webhooks'].sort()
  t.same(Object.keys(rest).sort(), names, 'a live agent has no mark of the test world')
  const { extractionFields, version, ...others } = rest
  t.equal(version, 1)
  t.same(extractionFields, [], 'published clients map over it')
  t.ok(Object.values(others).every((value) => value === null))

  const whole = await made(acme, { ...settings, name: 'Whole' })
  t.match(whole, settings)
  t.same((await call(acme, 'GET', of(whole))).json(), whole)
  const nulls = await made(acme, {
    ...Object.fromEntries(Object.keys(settings).map((key) => [key, null])),
    name: 'Nulls',
  })
  t.equal(nulls['firstMessageMode'], null)
  const test = await admin.key(acme.id, { test: true })
  t.match(await made(test), { test: true, organizationId: acme.id })
  t.same(
    (await call(acme, 'GET', '/v1/agents')).json<Agent[]>().map((each) => each.name),
    ['Nulls', 'Whole', 'Front desk'],
    'newest first',
  )
  t.same((await call(acme, 'GET', `/v1/agents/${id}`)).json(), agent)
})

t.test('the text fields of an agent come back exactly as they were sent', async (t) => {
  const acme = await admin.organization('text')
  const odd = `\0 \ud800 ${'😀'.repeat(10)} "quoted" \\ \u2028`
  const agent = await made(acme, {
    systemPrompt: odd,
    speechNormalization: { textReplacements: { zeta: '1', alpha: '2', '10': '3' } },
    name: 'a\0b',
  })
  const shown = (await call(acme, 'GET', of(agent))).json<Agent>()
  t.equal(shown['systemPrompt'], odd)
  t.equal(shown.name, 'a\0b')
  t.same(shown['speechNormalization'], { textReplacements: { zeta: '1', alpha: '2', '10': '3' } })
})

t.test('updateAgent replaces whole values, clears with null, and changes nothing with {}', async (t) => {
  const acme = await admin.organization('changing')
  const agent = await made(acme, settings)
  const path = of(agent)
  t.same((await call(acme, 'PATCH', path, {})).json(), agent, '{} does not touch updatedAt either')
  await new Promise((resolve) => setTimeout(resolve, 5))
  const changed = (
    await call(acme, 'PATCH', path, { ttsOptions: { speed: 2 }, llmOptions: null, voice: 'x' })
  ).json<Agent>()
  t.same(changed, {
    ...agent,
    ttsOptions: { speed: 2 },
    llmOptions: null,
    voice: 'x',
    version: 2,
    updatedAt: changed.updatedAt,
  })
  t.ok(changed.updatedAt > agent.updatedAt)
  t.same((await call(acme, 'GET', path)).json(), changed)

  const invalid = async (body: object, ...paths: string[]) =>
    t.same(faultOf(await call(acme, 'PATCH', path, body)), { status: 400, code: 'VALIDATION_ERROR', paths })
  await invalid({ name: null }, '/name')
  await invalid({ systemPrompt: null }, '/systemPrompt')
  await invalid({ intent: null }, '/intent')
  await invalid({ firstMessage: null }, '/firstMessageMode')
  await invalid({ firstMessage: '' }, '/firstMessageMode')
  for (const field of ['id', 'organizationId', 'createdAt', 'updatedAt', 'test', 'tools', 'languages'])
    await invalid({ [field]: 'x' }, `/${field}`)
  t.same((await call(acme, 'GET', path)).json(), changed, 'a refused change changes nothing')
  t.equal(
    (await call(acme, 'PATCH', path, { firstMessage: '', firstMessageMode: null })).json<Agent>()['firstMessage'],
    '',
  )
})

t.test('two simultaneous changes of an agent are both kept', async (t) => {
  const acme = await admin.organization('at once')
  const agent = await made(acme)
  const changes = [
    { voice: 'a' },
    { timezone: 'UTC' },
    { maxToolHops: 3 },
    { recording: true },
    { endCallMessage: 'Bye.' },
  ]
  await Promise.all(changes.map((change) => call(acme, 'PATCH', of(agent), change)))
  t.match((await call(acme, 'GET', of(agent))).json(), Object.assign({}, ...changes))
})

t.test('an agent name is unique in its organization, compared after trimming and in Unicode NFC', async (t) => {
  const acme = await admin.organization('names')
  const conflict = { status: 409, code: 'AGENT_NAME_CONFLICT' }
  const cafe = await made(acme, { name: 'Caf\u00e9' })
  t.match(faultOf(await create(acme, { name: 'Cafe\u0301' })), conflict, 'NFC')
  t.match(faultOf(await create(acme, { name: ' Caf\u00e9\n' })), conflict, 'without blanks around')
  const other = await made(acme, { name: 'caf\u00e9' })
  t.equal(
    (await call(acme, 'PATCH', of(cafe), { name: ' Cafe\u0301 ' })).json<Agent>().name,
    ' Cafe\u0301 ',
    'its own name',
  )
  t.match(faultOf(await call(acme, 'PATCH', of(other), { name: 'Caf\u00e9' })), conflict)
  t.equal((await call(acme, 'GET', of(other))).json<Agent>().name, 'caf\u00e9')
  t.equal((await create(await admin.organization('names too'), { name: 'Caf\u00e9' })).status, 201)
  t.equal((await create(await admin.key(acme.id, { test: true }), { name: 'Caf\u00e9' })).status, 201)
  await call(acme, 'DELETE', of(cafe))
  t.equal((await create(acme, { name: 'Caf\u00e9' })).status, 201, 'the name of a deleted agent is free')
  const outcomes = await Promise.all(Array.from({ length: 6 }, () => create(acme, { name: 'Race' })))
  t.same(outcomes.map(({ status }) => status).sort(), [201, 409, 409, 409, 409, 409])
})

t.test("if each of two agents is given the other's name, both changes are refused without a deadlock", async (t) => {
  const acme = await admin.organization('swapping')
  const [a, b] = [await made(acme, { name: 'a' }), await made(acme, { name: 'b' })]
  for (let round = 0; round < 5; round += 1) {
    const answers = await Promise.all([
      call(acme, 'PATCH', of(a), { name: 'b' }),
      call(acme, 'PATCH', of(b), { name: 'a' }),
      create(acme, { name: 'a' }),
    ])
    t.same(
      answers.map(({ status }) => status),
      [409, 409, 409],
    )
  }
})

t.test('live and test agents are limited separately, and simultaneous requests do not pass the limit', async (t) => {
  const acme = await admin.organization('limited')
  const reached = {
    status: 409,
    code: 'LIMIT_REACHED',
  }
  const all = (target: Target) =>
    Promise.all(Array.from({ length: agentsMax + 4 }, (_, at) => create(target, { name: `agent ${at}` })))
  const statuses = (answers: Answer[]) => answers.map(({ status }) => status).filter((status) => status === 201).length
  const answers = await all(acme)
  t.equal(statuses(answers), agentsMax)
  const refused = answers.find(({ status }) => status !== 201)
  t.ok(refused)
  if (refused) {
    t.match(faultOf(refused), reached)
    t.match(refused.json(), { error: /^There are 5 agents already/ })
  }
  t.equal(statuses(await all(await admin.key(acme.id, { test: true }))), agentsMax)
  const [first] = (await call(acme, 'GET', '/v1/agents')).json<Agent[]>()
  if (first) await call(acme, 'DELETE', of(first))
  t.equal((await create(acme, { name: 'one more' })).status, 201)
})

t.test('deleteAgent removes the agent and its tools', async (t) => {
  const acme = await admin.organization('deleting')
  const agent = await made(acme)
  await call(acme, 'POST', `${of(agent)}/tools`, {
    name: 'bye',
    description: 'Ends.',
    source: { kind: 'builtin', name: 'end_call' },
  })
  const gone = await call(acme, 'DELETE', of(agent))
  t.same([gone.status, gone.json()], [200, { deleted: true }])
  const notFound = { status: 404, code: 'NOT_FOUND' }
  for (const method of ['GET', 'DELETE']) t.match(faultOf(await call(acme, method, of(agent))), notFound)
  t.match(faultOf(await call(acme, 'PATCH', of(agent), {})), notFound)
  t.match(faultOf(await call(acme, 'GET', `${of(agent)}/tools`)), notFound)
  const sql = openDatabase(parley)
  t.same(await sql`select id from agent_tools where organization_id = ${acme.id}`, [])
  await sql.end()
})

t.test('a malformed agent id is answered 404, like an unknown agent id', async (t) => {
  const acme = await admin.organization('forms')
  const unknown = (await call(acme, 'GET', '/v1/agents/agent_0123456789012345678901')).json<object>()
  for (const id of [
    'x',
    'agent_',
    '%01',
    'a%2Fb',
    '..%2f',
    'agent_012345678901234567890%01',
    '%F0%9F%98%80',
    'x'.repeat(3000),
    '%20',
  ])
    for (const method of ['GET', 'DELETE']) {
      const answer = await call(acme, method, `/v1/agents/${id}`)
      t.equal(answer.status, 404, `${method} ${id.slice(0, 40)}`)
      t.same({ ...answer.json<object>(), requestId: null }, { ...unknown, requestId: null })
    }
})

t.test('for an invalid agent the error lists up to 32 issues', async (t) => {
  const acme = await admin.organization('issues')
  t.same(faultOf(await call(acme, 'POST', '/v1/agents', { voice: '', maxToolHops: 99, extra: 1 })).paths?.sort(), [
    '/extra',
    '/intent',
    '/maxToolHops',
    '/name',
    '/systemPrompt',
    '/voice',
  ])
  const many = await create(acme, {
    systemPrompt: '{{ x',
    intent: { language: 'a' },
    timezone: 'Mars/Olympus',
    llmOptions: { model: 'secret-name' },
    ttsOptions: { model: 'nobody:x' },
    turnHandling: { endpointing: { maxDelay: 100 } },
    firstMessageMode: 'message',
  })
  t.same(faultOf(many).paths?.sort(), [
    '/firstMessageMode',
    '/intent/language',
    '/llmOptions/model',
    '/systemPrompt',
    '/timezone',
    '/ttsOptions/model',
    '/turnHandling/endpointing/maxDelay',
  ])
  t.notMatch(many.text, 'secret-name', 'nothing of the request is repeated')
  const none = await create(acme, allow('llm', Array<string>(32).fill('no')))
  t.equal(faultOf(none).paths?.length, 32)
  const both = {
    stackPreferences: { allowedProviders: { llm: Array<string>(32).fill('no'), tts: Array<string>(32).fill('no') } },
  }
  t.equal(faultOf(await create(acme, both)).paths?.length, 32)
})

t.test('the templates of an agent are validated when it is saved', async (t) => {
  const acme = await admin.organization('templates')
  const agent = await made(acme)
  const prompt = async (systemPrompt: string) => call(acme, 'PATCH', of(agent), { systemPrompt })
  for (const good of [
    '{{ name }}',
    '{% if a == "x" %}1{% elsif b %}2{% else %}3{% endif %}',
    '{% raw %}{{ x {% endraw %}',
    '{{ missing | default: "there" | upcase }}',
    '{{ system.weekday }}',
    'a } b } c { d',
    '{{ a }}'.repeat(2000),
  ])
    t.equal((await prompt(good)).status, 200, good.slice(0, 40))
  for (const [bad, place] of [
    ['{{ name', 'line 1, column 1'],
    ['one\n  {% bogus %}', 'line 2, column 3'],
    ['{{ x | nofilter }}', 'line 1, column 1'],
    ['{% if a %}', 'line 1, column 1'],
    ['{% include "/etc/passwd" %}', 'line 1, column 1'],
    ['{% render "x" %}', 'line 1'],
    ['{% layout "x" %}', 'line 1'],
    ['{% liquid\ninclude "x" %}', 'line 1'],
    ['{{ a }}'.repeat(2001), 'more than 2000 tags'],
  ] as const) {
    const answer = await prompt(bad)
    t.same(faultOf(answer), { status: 400, code: 'VALIDATION_ERROR', paths: ['/systemPrompt'] }, bad.slice(0, 40))
    t.match(answer.json<{ error: string }>().error, place)
    t.notMatch(answer.text, /passwd|nofilter|bogus/, 'nothing of the template is repeated')
  }
})

t.test('a request that fails before the handler runs gets an error code of the platform API', async (t) => {
  const acme = await admin.organization('refused')
  t.match(faultOf(await create({ ...acme, key: 'sk_live_nobody' })), { status: 401, code: 'UNAUTHORIZED' })
  const router = await admin.key(acme.id, { scopes: ['router'] })
  t.match(faultOf(await create(router)), { status: 403, code: 'FORBIDDEN' })
  t.match(faultOf(await call(acme, 'PUT', '/v1/agents', {})), { status: 405, code: 'METHOD_NOT_ALLOWED' })
  t.match(faultOf(await call(acme, 'POST', '/v1/agents', [])), { status: 400, code: 'VALIDATION_ERROR' })
  t.match(faultOf(await create(acme, { systemPrompt: 'x'.repeat(9_000_000) })), {
    status: 413,
    code: 'PAYLOAD_TOO_LARGE',
  })
})

function allow(stage: string, ids: string[]): object {
  return { stackPreferences: { allowedProviders: { [stage]: ids } } }
}
