/**
 * Secrets and content must never be stored or shown. The test puts invented words into keys, prompts, speech and
 * provider answers, through successes and failures. Then it searches for these words in everything the process printed,
 * measured and stored.
 */
import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { type Behaviour, startStubOpenAi } from '../providers/stub-openai.ts'
import { type Answer, ask, postJson, responses, send, speech, transcribe } from '../router/requests.ts'
import { readFixture } from '../speech/fixtures.ts'
import { databaseUrlOf, openDatabase } from './database.ts'
import { descendants, freePort, until } from './machine.ts'
import { metric } from './metrics.ts'
import { startParley } from './parley.ts'

const canaries = {
  'API key': 'k4n4ryApiKeyQuux',
  'key of nobody': 'k4n4ryNobodyQuux',
  'provider key': 'k4n4ryProviderQuux',
  'own provider key': 'k4n4ryOwnQuux',
  'own provider key that is none': 'k4n4ryNoneQuux',
  'idempotency key': 'k4n4ryIdempotentQuux',
  prompt: 'k4n4ryPromptQuux',
  'system prompt': 'k4n4rySystemQuux',
  tool: 'k4n4ryToolQuux',
  'text to speak': 'k4n4rySpeakQuux',
  'prompt of a transcription': 'k4n4ryHintQuux',
  'answer of a provider': 'k4n4ryAnswerQuux',
  'error of a provider': 'k4n4ryErrorQuux',
  'file name': 'k4n4ryFileQuux',
} as const
/** Words in the uploaded recording, and words that the embedded voice says. */
const spokenWords = ['area code', 'wombats juggle']

let lastRequest = ''

const stub = await startStubOpenAi()
const adminPort = await freePort()
const uploadPort = await freePort()
const settings = {
  PARLEY_LOG_LEVEL: 'trace',
  PARLEY_BOOTSTRAP_KEY: `sk_live_${canaries['API key'].repeat(2)}`,
  PARLEY_CIRCUIT_FAILURES_MAX: '1000',
  PARLEY_CIRCUIT_OPEN_MS: '10',
  PARLEY_CIRCUIT_OPEN_MAX_MS: '10',
  PARLEY_PROVIDERS: JSON.stringify([
    {
      id: 'mock',
      adapter: 'openai',
      baseUrl: `${stub.url}/v1`,
      apiKey: canaries['provider key'],
      models: { llm: ['mock'], stt: ['mock-stt'], tts: ['mock-tts'] },
    },
    {
      id: 'own',
      adapter: 'openai',
      baseUrl: `${stub.url}/own/v1`,
      apiKey: 'env:NO_SUCH_KEY',
      models: { llm: ['mock'], stt: ['mock-stt'], tts: ['mock-tts'] },
    },
  ]),
}
const ports = { PARLEY_ADMIN_PORT: String(adminPort), PARLEY_UPLOAD_PORT: String(uploadPort) }
const parley = await startParley({ ...settings, ...ports })
t.teardown(async () => {
  await parley.remove()
  await stub.close()
})

const pin = (model: string) => ({ routing: { mode: 'explicit', model } })
const key = () => ({ 'idempotency-key': `${canaries['idempotency key']}-${randomUUID()}` })
const tools = [{ name: 'lookup', description: canaries.tool, parameters: { type: 'object', title: canaries.tool } }]
const conversation = (more: object = {}) => {
  const asked = ask(canaries.prompt, { ...pin('mock/mock'), tools, ...more }) as { input: object[] }
  const system = { type: 'message', role: 'system', content: [{ type: 'text', text: canaries['system prompt'] }] }
  const call = { type: 'function_call', call_id: canaries.tool, name: 'lookup', arguments: `{"a":"${canaries.tool}"}` }
  const result = { type: 'function_result', call_id: canaries.tool, result: canaries.tool }
  return { ...asked, input: [system, ...asked.input, call, result] }
}
const answering = (more: object = {}) => postJson(parley, responses, conversation(more), key())
const speaking = (more: object = {}) =>
  postJson(parley, speech, { input: canaries['text to speak'], ...pin('mock/mock-tts'), ...more }, key())
const hearing = (more: object = {}, audio = readFixture('privacy-prompt')) =>
  transcribe(parley, audio, { ...pin('mock/mock-stt'), ...more }, key())
const withHint = { options: { prompt: canaries['prompt of a transcription'] } }

const body = `{"error":{"message":"${canaries['error of a provider']} ${canaries.prompt}","code":"${canaries['error of a provider']}"}}`
const vendorSays = (status: number): Behaviour => ({
  kind: 'custom',
  answer: (_request, response) => {
    response.writeHead(status, canaries['error of a provider'], { 'content-type': 'application/json' })
    response.end(body)
  },
})
const breaksOff: Behaviour = {
  kind: 'custom',
  answer: (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const delta = JSON.stringify({ choices: [{ index: 0, delta: { content: canaries['answer of a provider'] } }] })
    response.write(`data: ${delta}\n\ndata: {"error": ${canaries['error of a provider']}\n\n`)
    response.end()
  },
}

/** Asserts that the response repeats no part of the request or of the provider's response. */
function silent(t: Test, answer: Answer, status: number): void {
  t.equal(answer.status, status)
  for (const [name, canary] of Object.entries(canaries)) t.notMatch(answer.text, canary, `${status}: ${name}`)
}

t.test('requests that contain a secret in each field succeed', async (t) => {
  stub.behave({ kind: 'ok', text: `${canaries['answer of a provider']} and more.` })
  t.match((await answering()).text, canaries['answer of a provider'])
  stub.behave({ kind: 'ok', text: `${canaries['answer of a provider']} and more.` })
  t.match((await answering({ stream: true })).text, canaries['answer of a provider'])
  const embedded = [
    speaking(),
    hearing(withHint),
    transcribe(parley, readFixture('privacy-prompt'), pin('local/moonshine-tiny-en'), key()),
    postJson(parley, speech, { input: 'Seven wombats juggle.', ...pin('local/flite') }, key()),
    answering({ ...pin('local/scripted'), stream: true }),
    send({ url: parley.url, key: parley.key }, '/router/v1/models'),
    postJson({ ...parley, url: `http://127.0.0.1:${uploadPort}` }, responses, conversation(), key()),
  ]
  for (const { status } of await Promise.all(embedded)) t.equal(status, 200)
  const transcription = await transcribe(parley, readFixture('privacy-prompt'))
  t.match(transcription.text, spokenWords[0])
  lastRequest = transcription.headers.get('service-request-id') as string
})

t.test('the answer to a refused request contains no secret', async (t) => {
  const stranger = { ...parley, key: `sk_live_${canaries['key of nobody'].repeat(2)}` }
  silent(t, await postJson(stranger, responses, conversation(), key()), 401)
  silent(t, await postJson(parley, responses, `{"input": "${canaries.prompt}`, key()), 400)
  silent(t, await answering({ temperature: canaries.prompt }), 400)
  silent(t, await answering({ max_output_tokens: canaries.prompt }), 400)
  silent(t, await speaking({ voice: canaries['text to speak'] }), 400)
  silent(t, await speaking({ ...pin('local/flite'), voice: canaries['text to speak'] }), 400)
  for (const provider of ['mock', 'local', 'own', 'nobody'])
    silent(t, await speaking(pin(`${provider}/Say ${canaries['text to speak']} aloud`)), 400)
  silent(t, await hearing({}, Buffer.from(canaries['text to speak'])), 415)
  silent(t, await send(parley, `/router/v1/models?language=${canaries.prompt}!`), 400)
  for (const place of [`Say%20${canaries.prompt}`, `${canaries.prompt}!`, `nothing?input=${canaries.prompt}`])
    silent(t, await send(parley, `/router/v1/${place}`), 404)
  // The answer may contain the requested path, because the path has only valid characters. The path is not stored.
  const nothing = await send(parley, `/router/v1/${canaries.prompt}`)
  t.match([nothing.status, nothing.json().error.message], [404, `There is nothing at /router/v1/${canaries.prompt}.`])
  const twice = key()
  await postJson(parley, responses, conversation(), twice)
  silent(t, await postJson(parley, responses, conversation(), twice), 409)
})

t.test('if a provider fails, the answer contains no secret', async (t) => {
  for (const [vendor, status] of [
    [400, 502],
    [401, 502],
    [422, 502],
    [429, 429],
    [500, 502],
  ] as const)
    for (const shoot of [answering, speaking, hearing]) {
      stub.behave(vendorSays(vendor))
      silent(t, await shoot(), status)
      // After a provider has refused its credential, the server sends it no request for a moment.
      await sleep(30)
    }
  stub.behave(breaksOff)
  const broken = await answering({ stream: true })
  t.match(broken.text, /^event: error$/m)
  t.notMatch(broken.text, canaries['error of a provider'])
  stub.behave({ kind: 'garbage' })
  silent(t, await answering(), 502)
})

t.test('if a provider does not answer, the answer contains no secret', async (t) => {
  // A separate server with short time-outs, because the first server's time-outs must not depend on the machine's
  // speed.
  const hasty = await startParley({
    ...settings,
    DATABASE_URL: databaseUrlOf(parley.dataDir),
    PARLEY_TIMEOUTS_FIRST_TOKEN_MS: '600',
    PARLEY_TIMEOUTS_ANSWER_MS: '600',
  })
  t.teardown(() => hasty.remove())
  stub.behave({ kind: 'hang' })
  silent(t, await postJson(hasty, responses, conversation(), key()), 504)
  t.equal(await hasty.stop(), 0)
  t.match(hasty.output(), '"msg":"attempt failed"', 'the log was written')
  absent(t, 'what was printed', hasty.output())
})

t.test('no answer contains a provider key of an organization', async (t) => {
  const { 'own provider key': own, 'own provider key that is none': none } = canaries
  const put = (body: string) =>
    send(parley, '/v1/providers', { method: 'PUT', body, headers: { 'content-type': 'application/json' } })
  silent(t, await put(JSON.stringify({ provider: 'own', apiKey: own })), 200)
  silent(t, await put(JSON.stringify({ provider: 'own', apiKey: `${none} ${none}` })), 400)
  silent(t, await put(JSON.stringify({ provider: none, apiKey: none })), 400)
  silent(t, await put(`{"provider": "own", "apiKey": "${none}`), 400)
  silent(t, await put(JSON.stringify({ provider: 'own', apiKey: none, region: none })), 400)
  silent(t, await send(parley, '/v1/providers'), 200)
  silent(t, await send(parley, '/v1/providers/known'), 200)
  stub.behave({ kind: 'ok', text: 'Yes.' })
  const answered = await answering(pin('own/mock'))
  t.equal(stub.requests.at(-1)?.headers.authorization, `Bearer ${own}`)
  silent(t, answered, 200)
  for (const shoot of [answering, speaking, hearing]) {
    stub.behave(vendorSays(401))
    silent(t, await shoot(pin(shoot === answering ? 'own/mock' : `own/mock-${shoot === hearing ? 'stt' : 'tts'}`)), 502)
    await sleep(30)
  }
  const route = `/v1/requests/${answered.headers.get('service-request-id')}/route`
  await until('it is in the ledger', async () => (await send(parley, route)).status === 200)
  silent(t, await send(parley, route), 200)

  const sql = openDatabase(parley.dataDir)
  await sql`alter table provider_keys rename to elsewhere`
  silent(t, await put(JSON.stringify({ provider: 'own', apiKey: own })), 500)
  silent(t, await send(parley, '/v1/providers'), 500)
  await sql`alter table elsewhere rename to provider_keys`
  await sql`update provider_keys set sealed = substr(sealed, 1, 20)`
  silent(t, await put(JSON.stringify({ provider: 'mock', apiKey: own })), 200)
  silent(t, await answering(pin('own/mock')), 503)
  await sql.end()
  silent(t, await send(parley, '/v1/providers/mock', { method: 'DELETE' }), 204)
})

t.test('the answer to an internal error contains no secret', async (t) => {
  const sql = openDatabase(parley.dataDir)
  await sql`alter table idempotency_keys rename to elsewhere`
  for (const shoot of [answering, speaking, hearing]) silent(t, await shoot(), 500)
  await sql`alter table elsewhere rename to idempotency_keys`
  await sql.end()
  const long = Buffer.concat(Array.from({ length: 60 }, () => readFixture('privacy-prompt').subarray(44)))
  const audio = { encoding: 'pcm_s16le', sample_rate_hz: 8000, channels: 1 }
  const killed = hearing({ ...pin('local/moonshine-tiny-en'), audio }, long)
  await until('the request has arrived', async () => (await metric(adminPort, 'parley_requests_inflight')) === 1)
  for (const child of descendants(parley.pid, 'stt-child')) process.kill(child, 'SIGKILL')
  t.ok([200, 502].includes((await killed).status))
})

const tablesInUse = [
  'api_keys',
  'attempts',
  'choices',
  'idempotency_keys',
  'organizations',
  'provider_keys',
  'requests',
]

t.test('metrics and database tables contain no secret and no request content', async (t) => {
  const metrics = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text()
  t.match(metrics, 'parley_attempt_seconds')
  absent(t, 'the metrics', metrics)
  const sql = openDatabase(parley.dataDir)
  const tables = await sql<{ name: string }[]>`
    select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`
  for (const { name } of tables) {
    const rows = await sql<{ row: string }[]>`select t::text as row from ${sql(name)} t`
    if (tablesInUse.includes(name)) t.ok(rows.length > 0, `${name} has rows`)
    absent(t, `the table ${name}`, rows.map(({ row }) => row).join('\n'))
  }
  await sql.end()
})

t.test('no secret is printed or written to a file', async (t) => {
  t.equal(await parley.stop(), 0)
  const printed = parley.output()
  for (const line of ['"msg":"request"', '"msg":"attempt failed"', '"msg":"request failed"'])
    t.match(printed, line, 'the log was written')
  absent(t, 'what was printed', printed)
  const files = (readdirSync(parley.dataDir, { recursive: true, withFileTypes: true }) as unknown as Entry[])
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
  t.ok(
    files.some((file) => file.endsWith('.log')) && files.length > 100,
    `${files.length} files, Postgres and its log among them`,
  )
  const all = { ...canaries, ...Object.fromEntries(spokenWords.map((words) => [words, words])) }
  let found = false
  for (const file of files) {
    const bytes = readFileSync(file)
    found ||= bytes.includes(lastRequest)
    for (const [name, canary] of Object.entries(all))
      if (bytes.includes(canary)) t.fail(`${name} stands in ${path.relative(parley.dataDir, file)}`)
  }
  t.ok(found, 'what is kept can be found in this way')
})

type Entry = { isFile(): boolean; parentPath: string; name: string }

function absent(t: Test, where: string, text: string): void {
  for (const [name, canary] of Object.entries(canaries)) {
    // Columns of the type bytea are shown in hex.
    const isThere = text.includes(canary) || text.includes(Buffer.from(canary).toString('hex'))
    t.notOk(isThere, `${where}: ${name}`)
  }
  for (const words of spokenWords) t.notOk(text.includes(words), `${where}: ${words}`)
}
