/**
 * Two providers serve the same model. If the first fails, the second answers, and the answer and the ledger name the
 * second.
 */
import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { runCommand } from '../command.ts'
import { openDatabase } from '../process/database.ts'
import { freePort, until } from '../process/machine.ts'
import { type Behaviour, startStubOpenAi, stubText } from '../providers/stub-openai.ts'
import { serverInTime } from '../time/server.ts'
import {
  type Answer,
  ask,
  postForm,
  postJson,
  readEvents,
  responses,
  speech,
  transcriptionParts,
  transcriptions,
} from './requests.ts'

const openMs = 600
const retryAfterMaxMs = 1500
const [first, second] = [await startStubOpenAi(), await startStubOpenAi()]
t.teardown(() => Promise.all([first.close(), second.close()]))
const models = { llm: ['mock'], stt: ['mock-stt'], tts: ['mock-tts'] }
const adapter = { adapter: 'openai', apiKey: 'k', models }
const parley = await serverInTime(t, {
  PARLEY_PROVIDERS: JSON.stringify([
    { ...adapter, id: 'first', baseUrl: `${first.url}/v1` },
    { ...adapter, id: 'second', baseUrl: `${second.url}/v1` },
    { ...adapter, id: 'gone', baseUrl: `http://127.0.0.1:${await freePort()}/v1` },
  ]),
  PARLEY_TIMEOUTS_FIRST_TOKEN_MS: '1000',
  PARLEY_TIMEOUTS_FIRST_AUDIO_MS: '1000',
  PARLEY_TIMEOUTS_ANSWER_MS: '1000',
  PARLEY_CIRCUIT_OPEN_MS: String(openMs),
  PARLEY_CIRCUIT_OPEN_MAX_MS: String(openMs),
  PARLEY_CIRCUIT_RETRY_AFTER_MAX_MS: String(retryAfterMaxMs),
})
const { clock } = parley
const sql = openDatabase(parley)
t.teardown(() => sql.end())

const organization = await (async () => {
  const { stdout } = await runCommand(parley, ['org', 'list'])
  return /org_\w+/.exec(stdout)?.[0] ?? ''
})()

/**
 * Makes an API key that fixes the order of the providers. Without it, measured failures would move a failing provider
 * to the end.
 */
const keyFor = (...providers: string[]) => keyOf(organization, ...providers)

async function keyOf(organization: string, ...providers: string[]): Promise<{ url: string; key: string }> {
  const stage = (model: string) => providers.map((provider) => `${provider}/${model}`)
  const chain = { llm: stage('mock'), stt: stage('mock-stt'), tts: stage('mock-tts') }
  const args = ['keys', 'create', '--org', organization, '--policy', JSON.stringify({ chain })]
  const { stdout } = await runCommand(parley, args)
  return { url: parley.url, key: stdout.trim() }
}

const [both, dead, deadOnly] = await Promise.all([keyFor('first', 'second'), keyFor('gone', 'second'), keyFor('gone')])

const shots = {
  answer: (target = both) => postJson(target, responses, ask('hello')),
  stream: (target = both) => postJson(target, responses, ask('hello', { stream: true })),
  speech: (target = both) => postJson(target, speech, { input: 'Hello.' }),
  transcription: (target = both) => {
    const audio = { encoding: 'pcm_s16le', sample_rate_hz: 8000, channels: 1 }
    return postForm(target, transcriptions, transcriptionParts({ audio }, Buffer.alloc(3200)))
  },
}

type LedgerRow = { attempt_id: string; provider: string; model: string; outcome: string }

/** Returns the request's ledger row, which is written after the answer. */
async function ledgerOf(answer: Answer): Promise<LedgerRow> {
  const id = answer.headers.get('service-request-id')
  let rows: LedgerRow[] = []
  await until('it stands in the ledger', async () => {
    rows = await sql<LedgerRow[]>`select attempt_id, provider, model, outcome from requests where request_id = ${id}`
    return rows.length > 0
  })
  return rows[0] as LedgerRow
}

async function servedBy(t: Test, answer: Answer, provider: string): Promise<void> {
  t.equal(answer.status, 200)
  t.equal(answer.headers.get('service-provider'), provider)
  const row = await ledgerOf(answer)
  t.equal(answer.headers.get('service-model'), row.model)
  t.match(row, { provider, outcome: 'succeeded', attempt_id: answer.headers.get('service-attempt-id') })
}

/** Closes the circuit after a test: time passes until the circuit admits a probe, and then a success closes it. */
async function mend(): Promise<void> {
  await clock.until('the first answers all', async () => {
    const answers = await Promise.all(Object.values(shots).map((shoot) => shoot()))
    return answers.every(({ headers }) => headers.get('service-provider') === 'first')
  })
}

const closeBeforeToken: Behaviour = {
  kind: 'custom',
  answer: (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.flushHeaders()
    setTimeout(() => response.socket?.destroy(), 20)
  },
}
const failures: [string, Behaviour][] = [
  ['500', { kind: 'status', status: 500 }],
  ['429', { kind: 'status', status: 429 }],
  ['401', { kind: 'status', status: 401 }],
  ['an empty success', { kind: 'empty' }],
  ['a reset', { kind: 'custom', answer: (_request, response) => void response.socket?.resetAndDestroy() }],
  ['a cut before the first token', closeBeforeToken],
  ['nothing at all', { kind: 'hang' }],
]
for (const [name, behaviour] of failures)
  t.test(`the second provider answers if the first gives ${name}`, async (t) => {
    for (const [kind, shoot] of Object.entries(shots)) {
      // These two failures do not apply to transcriptions, because a transcription may take half an hour and an empty
      // transcript is an answer.
      if (kind === 'transcription' && (behaviour.kind === 'hang' || behaviour.kind === 'empty')) continue
      const asked = first.requests.length
      first.behave(behaviour)
      await servedBy(t, await (behaviour.kind === 'hang' ? clock.during(shoot()) : shoot()), 'second')
      t.equal(first.requests.length, asked + 1, `${kind}: the first one was asked`)
      await mend()
    }
  })

t.test('if the first provider answers with Retry-After, it gets no request for that time', async (t) => {
  for (const status of [429, 503])
    for (const [kind, shoot] of Object.entries(shots)) {
      const asked = first.requests.length
      first.behave({ kind: 'status', status, headers: { 'retry-after': '30' } })
      await servedBy(t, await shoot(), 'second')
      await clock.advance(retryAfterMaxMs - 1)
      for (let i = 0; i < 3; i++) t.equal((await shoot()).headers.get('service-provider'), 'second')
      t.equal(first.requests.length, asked + 1, `${kind}: it was asked once`)
      await clock.advance(1)
      await servedBy(t, await shoot(), 'first')
      t.equal(first.requests.length, asked + 2, 'it is asked again after the longest pause of this server')
      await mend()
    }
})

t.test('empty answers for one organization do not make the model unavailable to the others', async (t) => {
  const { stdout } = await runCommand(parley, ['org', 'create', 'hostile'])
  const hostile = await keyOf(/org_\w+/.exec(stdout)?.[0] ?? '', 'first', 'second')
  for (let i = 0; i < 10; i++) {
    first.behave({ kind: 'empty' })
    t.equal((await shots.answer(hostile)).headers.get('service-provider'), 'second', 'the next candidate answers')
  }
  await servedBy(t, await shots.answer(), 'first')
  await mend()
})

t.test('if the first provider refuses connections, the second provider answers', async (t) => {
  for (const shoot of Object.values(shots)) await servedBy(t, await shoot(dead), 'second')
})

t.test('if all providers refuse connections, the idempotency key may be used again', async (t) => {
  const key = { 'idempotency-key': randomUUID() }
  const answer = await postJson(deadOnly, responses, ask('hello'), key)
  t.equal(answer.status, 503)
  t.equal(answer.json().error.code, 'provider_unavailable')
  t.ok(Number(answer.headers.get('retry-after')) >= 1)
  t.equal(answer.headers.get('x-should-retry'), null)
  t.equal((await postJson(both, responses, ask('hello'), key)).status, 200)
})

t.test('if both providers fail, the answer lists both failures', async (t) => {
  first.behave({ kind: 'status', status: 500 })
  second.behave({ kind: 'status', status: 503 })
  const answer = await shots.answer()
  t.equal(answer.status, 502)
  const { code, attempts, retryable } = answer.json().error
  t.same([code, retryable], ['provider_error', true])
  t.match(attempts, [
    { provider: 'first', model: 'mock', outcome: 'server', milliseconds: Number },
    { provider: 'second', model: 'mock', milliseconds: Number },
  ])
  t.equal(answer.headers.get('x-should-retry'), 'false')
  t.match(await ledgerOf(answer), { provider: 'second', outcome: 'all_failed' })
})

t.test("a failing provider's body and headers are never passed on", async (t) => {
  const alone = await keyFor('first')
  for (const [kind, shoot] of Object.entries(shots)) {
    first.behave({
      kind: 'custom',
      answer: (_request, response) => {
        response.writeHead(500, { 'content-type': 'application/json', 'x-vendor': 'k4n4ry' })
        response.end('{"error":{"message":"k4n4ry","code":"k4n4ry"}}')
      },
    })
    const answer = await shoot(alone)
    t.equal(answer.status, 502, kind)
    t.notMatch(`${answer.text} ${JSON.stringify([...answer.headers])}`, 'k4n4ry', kind)
    await mend()
  }
})

t.test('allow_providers and deny_providers decide which providers may answer', async (t) => {
  const routed = (filter: object) => postJson(both, responses, ask('hello', { routing: { mode: 'auto', ...filter } }))
  await servedBy(t, await routed({}), 'first')
  await servedBy(t, await routed({ allow_providers: ['second'] }), 'second')
  await servedBy(t, await routed({ deny_providers: ['first'] }), 'second')
  await servedBy(t, await routed({ allow_providers: ['first', 'second'], deny_providers: ['second'] }), 'first')
  const nobody = await routed({ allow_providers: ['first'], deny_providers: ['first'] })
  t.same([nobody.status, nobody.json().error.code], [400, 'capability_unsupported'])
})

t.test('once the first token was sent, no other provider takes over', async (t) => {
  first.behave({ kind: 'cut' })
  const asked = second.requests.length
  const answer = await shots.stream()
  const events = readEvents(answer.text)
  t.equal(answer.headers.get('service-provider'), 'first')
  t.equal(events.at(-1)?.event, 'error')
  t.equal(second.requests.length, asked)
  t.match(await ledgerOf(answer), { provider: 'first', outcome: 'stream_broken' })
  await mend()
})

t.test('a request with a pinned provider never fails over', async (t) => {
  first.behave({ kind: 'status', status: 500 })
  const asked = second.requests.length
  const pinned = ask('hello', { routing: { mode: 'explicit', model: 'first/mock' } })
  t.equal((await postJson(parley, responses, pinned)).json().error.code, 'provider_error')
  t.equal(second.requests.length, asked)
  await mend()
})

t.test('three failures open the circuit, and one success closes it', async (t) => {
  for (let i = 0; i < 3; i++) {
    first.behave({ kind: 'status', status: 500 })
    await servedBy(t, await shots.answer(), 'second')
  }
  const asked = first.requests.length
  for (let i = 0; i < 5; i++) await servedBy(t, await shots.answer(), 'second')
  t.equal(first.requests.length, asked, 'it is left alone')
  const pinned = ask('hello', { routing: { mode: 'explicit', model: 'first/mock' } })
  const refused = await postJson(parley, responses, pinned)
  t.equal(refused.status, 503)
  t.equal(refused.json().error.code, 'provider_unavailable')
  t.ok(Number(refused.headers.get('retry-after')) >= 1)
  await servedBy(t, await shots.speech(), 'first')
  await clock.advance(openMs)
  await servedBy(t, await shots.answer(), 'first')
  await servedBy(t, await shots.answer(), 'first')
  t.match((await shots.answer()).text, stubText)
})
