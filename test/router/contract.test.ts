/** Checks the product against its contract: every operation, and every declared status, header and error. */
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { errorCodes } from '../../generated/router/errors.ts'
import { runCommand } from '../command.ts'
import { openDatabase } from '../process/database.ts'
import { until } from '../process/machine.ts'
import { type Behaviour, holding, startStubOpenAi } from '../providers/stub-openai.ts'
import { ownServer } from '../server.ts'
import { serverInTime } from '../time/server.ts'
import { expected } from './expected-answer.ts'
import { conforms, specification, unanswered } from './oracle.ts'
import { createPosts, explicit, type Shot } from './posts.ts'
import { ask, postJson, responses, send, speech, type Target } from './requests.ts'

const stub = await startStubOpenAi()
const llm = { llm: ['mock'], stt: ['mock-stt'], tts: ['mock-tts'] }
const providers = JSON.stringify([
  { id: 'mock', adapter: 'openai', baseUrl: `${stub.url}/v1`, apiKey: 'k', models: llm },
  { id: 'down', adapter: 'openai', baseUrl: 'http://127.0.0.1:9/v1', apiKey: 'k', models: llm },
  { id: 'absent', adapter: 'openai', baseUrl: `${stub.url}/v1`, apiKey: 'env:ABSENT_KEY', models: llm },
  // Every reservation for these priced models is refused, so no request reaches this provider.
  { id: 'groq', adapter: 'groq', apiKey: 'k' },
])
const timeoutMs = '1500'
t.teardown(() => stub.close())
// The test clock moves only in tests of providers that do not answer, so no time-out depends on the machine's speed.
const parley = await serverInTime(t, {
  PARLEY_EDGE_QUOTA: '',
  PARLEY_PROVIDERS: providers,
  PARLEY_LIMITS_JSON_BYTES_MAX: '65536',
  PARLEY_LIMITS_AUDIO_BYTES_MAX: '65536',
  PARLEY_TIMEOUTS_FIRST_TOKEN_MS: timeoutMs,
  PARLEY_TIMEOUTS_FIRST_AUDIO_MS: timeoutMs,
  PARLEY_TIMEOUTS_ANSWER_MS: timeoutMs,
  PARLEY_TIMEOUTS_TRANSCRIPTION_MS: timeoutMs,
  // The stub fails on purpose all the time, so the limit is high enough that its circuit stays closed. Another test
  // covers the circuit.
  PARLEY_CIRCUIT_FAILURES_MAX: '1000',
  PARLEY_CIRCUIT_RETRY_AFTER_MAX_MS: '0',
})

const posts = createPosts(parley)

/** Sends one request to each POST operation. The answer must conform to the contract and have this status and code. */
async function each(t: Test, status: number, code: string | null, shot: Shot = {}, behaviour?: Behaviour) {
  for (const { operationId, shoot } of posts) {
    if (behaviour) stub.behave(behaviour)
    const answer = await (behaviour?.kind === 'hang' ? parley.clock.during(shoot(shot)) : shoot(shot))
    expected(t, operationId, answer, status, code)
  }
}

const admin = async (...args: string[]) => {
  const { stdout, stderr, code } = await runCommand(parley, args)
  if (code === 0) return stdout.trim()
  throw new Error(`${args.join(' ')}: ${stderr}`)
}
const idIn = (row: string) => /org_\w+/.exec(row)?.[0] ?? ''
const keyOf = async (org: string, ...more: string[]): Promise<Target> => ({
  url: parley.url,
  key: await admin('keys', 'create', '--org', org, ...more),
})

t.test('each operation succeeds as the contract says', async (t) => {
  await each(t, 200, null)
  const stream = await postJson(parley, responses, { ...ask('Hello.'), ...explicit('mock/mock'), stream: true })
  conforms(t, 'createResponse', stream)
  t.equal(stream.headers.get('content-type'), 'text/event-stream')
  stub.behave({ kind: 'tool_call' })
  const tools = [{ name: 'weather' }, { name: 'clock' }]
  const called = await postJson(parley, responses, { ...ask('Hello.'), ...explicit('mock/mock'), tools, stream: true })
  conforms(t, 'createResponse', called)
  const models = await send(parley, '/router/v1/models?language=en-US&objective=cost&path=streaming')
  conforms(t, 'listModels', models)
  t.match(models.json<object>(), { objective: 'cost', path: 'stream', language: 'en-US' })
  const usual = await send(parley, '/router/v1/models')
  expected(t, 'listModels', usual, 200, null)
  t.match(usual.json<object>(), { objective: 'balanced', path: 'stream', language: 'en' })
})

t.test('the contract is served without a key and equals the file in specs/', async (t) => {
  const answer = await fetch(`${parley.url}/router/openapi.json`)
  const text = await answer.text()
  const document = JSON.parse(text) as object
  conforms(t, 'getOpenapi', { status: answer.status, headers: answer.headers, text, json: <T>() => document as T })
  t.same(document, specification)
})

t.test('the contract is version 1, without deprecated operations or webhooks', async (t) => {
  type Operations = Record<string, { deprecated?: boolean }>
  type Document = { openapi: string; info: { version: string }; paths: Record<string, Operations> }
  const document = (await send(parley, '/router/openapi.json')).json<Document>()
  t.same([document.openapi, document.info.version], ['3.1.0', '1.0.0'])
  t.notOk('webhooks' in document)
  const paths = Object.keys(document.paths).filter((path) => path !== '/openapi.json')
  t.ok(
    paths.every((path) => path.startsWith('/v1/')),
    paths.join(),
  )
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods))
  t.equal(operations.length, 5)
  t.notOk(operations.some(({ deprecated }) => deprecated))
})

t.test('no database table contains content from a request or answer', async (t) => {
  stub.behave({ kind: 'ok', text: 'A k4n4ry of the answer.' })
  const asked = { ...ask('A k4n4ry of the request.'), ...explicit('mock/mock') }
  const answers = [
    await postJson(parley, responses, asked),
    await postJson(parley, speech, { input: 'A k4n4ry to speak.', ...explicit('mock/mock-tts') }),
  ]
  t.match(answers[0]?.text, 'k4n4ry')
  const ids = answers.map(({ headers }) => headers.get('service-request-id'))
  const sql = openDatabase(parley)
  const stored = () => sql`select from requests where request_id in ${sql(ids)}`
  await until('both are in the ledger', async () => (await stored()).length === 2)
  const tables = await sql<{ name: string }[]>`
    select table_name as name from information_schema.tables where table_schema = 'public'`
  t.ok(tables.some(({ name }) => name === 'idempotency_keys'))
  const bytes = Buffer.from('k4n4ry').toString('hex')
  for (const { name } of tables) {
    const found = await sql`select from ${sql(name)} as row where row::text ~ ${`k4n4ry|${bytes}`}`
    t.equal(found.length, 0, name)
  }
  await sql.end()
})

t.test('the contract, the code and docs/errors.md have the same table of error codes', (t) => {
  const inSpec = Object.entries(specification['x-error-codes'])
  const inCode = Object.entries(errorCodes).map(([code, row]) => [code, { ...row, headers: [...row.headers] }])
  t.same(
    inCode,
    inSpec.map(([code, row]) => [code, { ...row, headers: row.headers ?? [] }]),
    'generated/',
  )
  const docs = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8')
  const rows = docs.split('\n').filter((line) => line.startsWith('| `'))
  const cells = (line: string) => line.split('|').map((cell) => cell.trim().replaceAll('`', ''))
  t.same(
    rows.map((line) => cells(line).slice(1, -1)),
    inSpec.map(([code, { status, type, retryable, headers, message, hint }]) => [
      code,
      status === null ? 'ends a stream' : String(status),
      type,
      retryable ? 'yes' : 'no',
      (headers ?? []).join(', '),
      `${message} ${hint}`,
    ]),
    'docs/errors.md',
  )
  t.end()
})

t.test('clients without a valid API key or without the required scope are refused', async (t) => {
  const stranger = { url: parley.url, key: `sk_live_${'n'.repeat(32)}` }
  const nobody = { url: parley.url, key: '' }
  for (const target of [stranger, nobody]) {
    await each(t, 401, 'authentication_failed', { target })
    expected(t, 'listModels', await send(target, '/router/v1/models'), 401, 'authentication_failed')
  }
  const local = idIn(await admin('org', 'list'))
  const target = await keyOf(local, '--scopes', 'realtime')
  await each(t, 403, 'access_denied', { target })
  expected(t, 'listModels', await send(target, '/router/v1/models'), 403, 'access_denied')
})

t.test('refused requests are answered as the contract says', async (t) => {
  await each(t, 400, 'invalid_parameter', { pin: 'nobody/nothing' })
  expected(t, 'listModels', await send(parley, '/router/v1/models?path=tape'), 400, 'invalid_parameter')
  await each(t, 415, 'unsupported_media', { type: 'text/plain' })
  await each(t, 413, 'payload_too_large', { bytes: 300_000 })
  const key = randomUUID()
  await each(t, 200, null, { key })
  await each(t, 409, 'request_already_started', { key })
  await each(t, 409, 'idempotency_conflict', { key, content: 'en' })
})

t.test('requests without enough credit are refused with 402', async (t) => {
  const poor = await keyOf(idIn(await admin('org', 'create', 'poor')))
  for (const { operationId, priced, shoot } of posts) {
    if (priced === null) continue
    const [key, sent] = [randomUUID(), stub.requests.length]
    expected(t, operationId, await shoot({ target: poor, pin: priced, key }), 402, 'insufficient_credit')
    t.equal(stub.requests.length, sent)
    t.equal((await shoot({ target: poor, key })).status, 200, 'nothing was spent, and the key is free')
  }
})

t.test('requests over the concurrency limit are refused with 429', async (t) => {
  const local = idIn(await admin('org', 'list'))
  const small = idIn(await admin('org', 'create', 'small'))
  const sql = openDatabase(parley)
  await sql`update organizations set max_concurrency = 1 where id = ${small}`
  await sql.end()
  const limited = [await keyOf(local, '--policy', '{"max_concurrency":1}'), await keyOf(small)]
  for (const target of limited)
    for (const { operationId, shoot } of posts) {
      const { behaviour, release } = holding()
      stub.behave(behaviour)
      const sent = stub.requests.length
      const first = shoot({ target })
      await until('the first is at the provider', () => stub.requests.length > sent)
      const second = await shoot({ target })
      release()
      expected(t, operationId, second, 429, 'concurrency_exhausted')
      t.equal((await first).status, 200)
      t.equal((await shoot({ target })).status, 200, 'its place is free again')
    }
})

t.test('provider failures are answered as the contract says', async (t) => {
  await each(t, 429, 'provider_rate_limited', {}, { kind: 'status', status: 429, headers: { 'retry-after': '9' } })
  await each(t, 502, 'provider_error', {}, { kind: 'status', status: 500 })
  await each(t, 504, 'request_timeout', {}, { kind: 'hang' })
  for (const { operationId, pin, shoot } of posts) {
    expected(t, operationId, await shoot({ pin: pin.replace('mock', 'down') }), 503, 'provider_unavailable')
    const keyless = await shoot({ pin: pin.replace('mock', 'absent') })
    expected(t, operationId, keyless, 400, 'capability_unsupported')
    t.match(keyless.json().error.message, 'ABSENT_KEY')
    t.equal(keyless.headers.get('x-should-retry'), 'false')
  }
  stub.behave({ kind: 'cut' })
  conforms(
    t,
    'createResponse',
    await postJson(parley, responses, { ...ask('Hi.'), ...explicit('mock/mock'), stream: true }),
  )
})

t.test('an internal error shows no detail, and the next request is served', async (t) => {
  const sql = openDatabase(parley)
  await sql`alter table idempotency_keys rename to elsewhere`
  await each(t, 500, 'relay_error')
  await sql`alter table elsewhere rename to idempotency_keys`
  await sql`alter table api_keys rename to elsewhere`
  const unseen = { url: parley.url, key: `sk_live_${'u'.repeat(32)}` }
  const answer = await send(unseen, '/router/v1/models')
  expected(t, 'listModels', answer, 500, 'relay_error')
  t.notMatch(answer.text, /\b(api_keys|relation|postgres|sql)\b/i)
  await sql`alter table elsewhere rename to api_keys`
  await sql.end()
  await each(t, 200, null)
})

t.test('each path answers OPTIONS and refuses other methods', async (t) => {
  for (const [path, methods] of Object.entries(specification.paths)) {
    const taken = Object.keys(methods).flatMap((method) =>
      method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()],
    )
    const allow = [...taken, 'OPTIONS']
    const address = `/router${path}`
    const options = await send(parley, address, { method: 'OPTIONS' })
    t.equal(options.status, 204, `OPTIONS ${path}`)
    t.same(options.headers.get('allow')?.split(', ').sort(), [...allow].sort())
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'].filter((name) => !taken.includes(name))) {
      const answer = await send(parley, address, { method })
      t.equal(answer.status, 405, `${method} ${path}`)
      t.same(answer.headers.get('allow')?.split(', ').sort(), [...allow].sort())
      if (method !== 'HEAD') expected(t, 'unmatched', answer, 405, 'method_not_allowed')
    }
    if (taken.includes('HEAD')) {
      const headers = { connection: 'close' }
      const head = await send(parley, address, { method: 'HEAD', headers })
      const get = await send(parley, address, { headers })
      t.same([head.status, head.text], [200, ''], `HEAD ${path}`)
      const lasting = (headers: Headers) =>
        [...headers.keys()].filter((name) => !['date', 'content-length'].includes(name))
      t.same(lasting(head.headers), lasting(get.headers))
    }
    for (const other of [`${path}/`, `${path}x`, `/${path}`, path.toUpperCase()])
      expected(t, 'unmatched', await send(parley, `/router${other}`), 404, 'not_found')
  }
})

t.test('requests over the quota of a client address are refused with 429', async (t) => {
  const edge = await serverInTime(t, { PARLEY_EDGE_QUOTA: '6', PARLEY_EDGE_WINDOW_S: '3600' })
  const left: string[] = []
  for (let i = 0; i < 6; i++) {
    const answer = await send(edge, i === 3 ? '/router/nowhere' : '/router/openapi.json')
    t.equal(answer.headers.get('ratelimit-policy'), '"relay-ip";q=6;w=3600')
    left.push(/r=(\d+)/.exec(answer.headers.get('ratelimit') ?? '')?.[1] ?? '')
  }
  t.same(left, ['5', '4', '3', '2', '1', '0'], 'every request counts, an error too')
  conforms(t, 'getOpenapi', await send(edge, '/router/openapi.json'))
  const models = await send(edge, '/router/v1/models')
  conforms(t, 'listModels', models)
  t.equal(models.json().error.code, 'rate_limited')
  t.ok(Number(models.headers.get('retry-after')) > 60, 'until the window ends')
  const health = await fetch(`${edge.url}/healthz`)
  t.same([health.status, health.headers.has('ratelimit')], [200, false], 'health is not counted')
})

t.test('a full server answers each operation with 503', async (t) => {
  const full = await ownServer(t, { PARLEY_PROVIDERS: providers, PARLEY_LIMITS_REQUESTS_MAX: '1' })
  stub.behave({ kind: 'hang' })
  const asked = stub.requests.length
  const hanging = postJson(full, responses, { ...ask('Hello.'), ...explicit('mock/mock') }).catch(() => null)
  await until('one request is under way', () => stub.requests.length > asked)
  for (const { operationId, shoot } of posts) {
    const answer = await shoot({ target: full })
    conforms(t, operationId, answer)
    t.equal(answer.json().error.code, 'service_unavailable')
  }
  for (const [operationId, path] of [
    ['getOpenapi', '/router/openapi.json'],
    ['listModels', '/router/v1/models'],
  ] as const) {
    const answer = await send(full, path)
    conforms(t, operationId, answer)
    t.equal(answer.status, 503)
  }
  t.equal((await fetch(`${full.url}/healthz`)).status, 200, 'health is always answered')
  const stopped = full.gateway.stop()
  full.gateway.force()
  await t.resolves(stopped, 'force ends what hangs')
  await hanging
})

t.test('every status that the contract declares was answered in these tests', (t) => {
  t.same(unanswered(), [
    // No test can make this operation fail.
    'getOpenapi 500',
    'createSpeech 402',
  ])
  t.end()
})
