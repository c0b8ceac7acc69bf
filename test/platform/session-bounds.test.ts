/** Tests every limit of a session request over the public API: a value at the limit, and a value beyond it. */
import t from 'tap'
import type { Answer, Target } from '../router/requests.ts'
import { type Border, sharedBorders } from './setting-borders.ts'
import { call, faultOf, startAdministered } from './setup.ts'

const { admin } = await startAdministered(t)

const create = (target: Target, more: object) =>
  call(target, 'POST', '/v1/sessions', { intent: { language: 'en' }, ...more })

/** Renames the two settings that have other names in an agent. */
function ofSession([path, taken, refused]: Border): Border {
  const renamed = (body: object): object => {
    const { llmOptions: llm, stackPreferences: constraints, ...rest } = body as Record<string, unknown>
    return { ...rest, ...(llm !== undefined && { llm }), ...(constraints !== undefined && { constraints }) }
  }
  const ownPath = path.replace(/^\/llmOptions/, '/llm').replace(/^\/stackPreferences/, '/constraints')
  return [ownPath, renamed(taken), renamed(refused)]
}

const tool = (more: object = {}) => ({ name: 'find', description: 'd', source: { kind: 'inline' }, ...more })
const tools = (count: number) => Array.from({ length: count }, (_, at) => tool({ name: `t${at}` }))
const pairs = (count: number, prefix: string) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`${prefix}${at}`, 'v']))
const deep = (levels: number): object => (levels === 1 ? {} : { a: deep(levels - 1) })
const large = (bytes: number) => ({ a: 'x'.repeat(bytes - '{"a":""}'.length) })

const ownBorders: Border[] = [
  ['/variables', { variables: pairs(64, 'v') }, { variables: pairs(65, 'v') }],
  ['/variables', { variables: { [`_${'v'.repeat(63)}`]: '' } }, { variables: { ['v'.repeat(65)]: '' } }],
  ['/variables', { variables: { System: 'v' } }, { variables: { system: 'v' } }],
  ['/variables', { variables: { a1: 'v' } }, { variables: { '1a': 'v' } }],
  ['/variables/a', { variables: { a: '😀'.repeat(4096) } }, { variables: { a: 'v'.repeat(4097) } }],
  ['/variables/a', { variables: { a: '' } }, { variables: { a: 1 } }],
  ['/metadata', { metadata: large(16_384) }, { metadata: large(16_385) }],
  ['/metadata', { metadata: deep(8) }, { metadata: deep(9) }],
  ['/webhookTags', { webhookTags: pairs(20, 't') }, { webhookTags: pairs(21, 't') }],
  ['/webhookTags/a', { webhookTags: { a: '😀'.repeat(256) } }, { webhookTags: { a: 'v'.repeat(257) } }],
  ['/identity', { identity: '😀'.repeat(128) }, { identity: 'i'.repeat(129) }],
  ['/identity', { identity: 'i' }, { identity: '' }],
  ['/transport', { transport: 'websocket' }, { transport: 'webrtc' }],
  ['/ttlSeconds', { ttlSeconds: 1 }, { ttlSeconds: 0 }],
  ['/ttlSeconds', { ttlSeconds: 86_400 }, { ttlSeconds: 86_401 }],
  ['/tools', { tools: tools(64) }, { tools: tools(65) }],
  ['/tools/1/name', { tools: tools(2) }, { tools: [tool(), tool()] }],
  [
    '/tools/0/description',
    { tools: [tool({ description: '😀'.repeat(1024) })] },
    { tools: [tool({ description: 'd'.repeat(1025) })] },
  ],
  [
    '/tools/0/source/timeoutMs',
    { tools: [tool({ source: { kind: 'inline', timeoutMs: 500 } })] },
    { tools: [tool({ source: { kind: 'inline', timeoutMs: 499 } })] },
  ],
  [
    '/tools/0/source/url',
    { tools: [tool({ source: { kind: 'webhook', url: 'https://a.example' } })] },
    { tools: [tool({ source: { kind: 'webhook', url: 'https://127.0.0.1' } })] },
  ],
  ['/promptVariables', {}, { promptVariables: [] }],
  ['/voicemail', {}, { voicemail: {} }],
  ['/name', {}, { name: 'n' }],
]

/**
 * Returns true if the server accepts the value. An accepted value may still be refused for another reason: a template
 * variable is missing, or this server lacks the model.
 */
function isTaken(answer: Answer, path: string): boolean {
  if (answer.status === 201) return true
  const { code, paths } = faultOf(answer)
  if (path === '/voice') return answer.text.includes('Known voices')
  return code === 'CAPABILITY_UNSUPPORTED' || (code === 'MISSING_TEMPLATE_VARIABLES' && paths?.[0] !== path)
}

t.test('each field of a session request is accepted at its limit and refused beyond its limit', async (t) => {
  const acme = await admin.organization('sessions at their borders')
  let started = 0
  const borders = [...sharedBorders.map(ofSession), ...ownBorders]
  for (const [path, taken, refused] of borders) {
    const title = `${path} ${JSON.stringify(refused).slice(0, 60)}`
    const yes = await create(acme, taken)
    t.ok(isTaken(yes, path), `${title} ${yes.text.slice(0, 300)}`)
    if (yes.status === 201) started += 1
    const { paths = [], ...no } = faultOf(await create(acme, refused))
    t.same(no, { status: 400, code: 'VALIDATION_ERROR' }, title)
    t.same([paths[0], paths.every((each) => each.startsWith(path))], [path, true], title)
  }
  // The embedded engines support no keywords, prompts and instructions, and they do not support every language, voice
  // and sample rate.
  t.ok(started >= borders.length - 15, `${started} of ${borders.length} started`)
})

t.test('a session without an agent needs an intent with a language', async (t) => {
  const acme = await admin.organization('without intent')
  for (const body of [{}, { intent: {} }, { intent: { optimizeFor: 'cost' } }, { systemPrompt: 'Be brief.' }])
    t.same(faultOf(await call(acme, 'POST', '/v1/sessions', body)), {
      status: 400,
      code: 'VALIDATION_ERROR',
      paths: ['/intent'],
    })
})

t.test('each missing template variable is listed as an issue', async (t) => {
  const acme = await admin.organization('missing variables')
  const answer = await create(acme, {
    systemPrompt: '{{ a }} {{ b | default: "x" }} {% if c %}{{ c }}{% endif %}',
    firstMessage: '{{ d }}',
    idleRePrompts: { messages: ['{{ e }}'] },
    endCallMessage: '{{ f }}',
    variables: { a: '{{ b }}' },
  })
  t.same(faultOf(answer), {
    status: 400,
    code: 'MISSING_TEMPLATE_VARIABLES',
    paths: ['/variables/e', '/variables/d', '/variables/f'],
  })
  const { issues } = answer.json<{ issues: { keyword: string }[] }>()
  t.same(new Set(issues.map(({ keyword }) => keyword)), new Set(['required']))
})

t.test('variables may have the names of inherited properties, such as constructor', async (t) => {
  const acme = await admin.organization('prototypes')
  const systemPrompt = '{{ constructor }} {{ toString }} {{ hasOwnProperty }} {{ system.constructor }}'
  const variables = { constructor: 'a', toString: 'b', hasOwnProperty: 'c' }
  const answer = await create(acme, { systemPrompt, variables })
  const { sessionId } = answer.json<{ sessionId: string }>()
  const session = (await call(acme, 'GET', `/v1/sessions/${sessionId}`)).json()
  t.match(session, { pipelineConfig: { systemPrompt: 'a b c ' } })
  t.same(faultOf(await create(acme, { systemPrompt: '{{ __proto__ }} {{ valueOf }}' })), {
    status: 400,
    code: 'MISSING_TEMPLATE_VARIABLES',
    paths: ['/variables/__proto__', '/variables/valueOf'],
  })
})

t.test('a template that makes 128 KiB of text within 50 ms is accepted, and a larger text is refused', async (t) => {
  const acme = await admin.organization('large templates')
  const made = (count: number) => ({ systemPrompt: `{% for i in (1..${count}) %}{{ v }}{% endfor %}` })
  const variables = { v: 'x'.repeat(4096) }
  t.equal((await create(acme, { ...made(32), variables })).status, 201)
  t.same(faultOf(await create(acme, { ...made(33), variables })).paths, ['/systemPrompt'])
  t.equal((await create(acme, { systemPrompt: '😀'.repeat(65_536) })).status, 201)
  const startedUs = process.cpuUsage().user
  for (const systemPrompt of [
    '{% for i in (1..99999999) %}{% endfor %}',
    '{% for i in (1..9999) %}{% for j in (1..9999) %}a{% endfor %}{% endfor %}',
    '{% assign a = "aaaaaaaaaaaaaaaa" %}{% for i in (1..60) %}{% assign a = a | append: a %}{% endfor %}',
    '{{ "a" | times: 9 }}{% for i in (1..99999) %}{{ "abcdefgh" | split: "" | sort | join: "," | size }}{% endfor %}',
    `{% assign a = "${'a'.repeat(60_000)}" | replace: "a", "aaaaaaaaaaaaaaaaaaaaaaaa" %}`,
    '{% liquid assign a = 1 %}',
  ])
    t.same(faultOf(await create(acme, { systemPrompt })).paths, ['/systemPrompt'], systemPrompt.slice(0, 60))
  const ms = (process.cpuUsage().user - startedUs) / 1000
  t.ok(ms < 3000, `${ms} ms for six`)
})

t.test('ttlSeconds limits the time until the first join', async (t) => {
  const acme = await admin.organization('ttl')
  for (const [body, seconds] of [
    [{}, 900],
    [{ ttlSeconds: null }, 900],
    [{ ttlSeconds: 86_400 }, 86_400],
  ] as const) {
    const { expiresAt, sessionId } = (await create(acme, body)).json<{ expiresAt: string; sessionId: string }>()
    const { createdAt } = (await call(acme, 'GET', `/v1/sessions/${sessionId}`)).json<{ createdAt: string }>()
    t.equal(Date.parse(expiresAt) - Date.parse(createdAt), seconds * 1000)
  }
})
