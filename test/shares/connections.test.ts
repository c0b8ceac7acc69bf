/** A hostile organization's requests cannot use up the connections to a provider. */
import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import type { TestClock } from '../clock.ts'
import { overEngines } from '../engine/engines.ts'
import { openAdministration } from '../platform/setup.ts'
import { type Behaviour, type StubOpenAi, startStubOpenAi, stubUsage } from '../providers/stub-openai.ts'
import { ask, postJson, responses, type Target } from '../router/requests.ts'
import { serverInTime } from '../time/server.ts'

const connectionsMax = 8
const share = connectionsMax / 4
const routing = { routing: { mode: 'explicit', provider: 'stub', model: 'mock' } }

type Setup = { stub: StubOpenAi; clock: TestClock; hostile: Target; honest: Target }

async function setUp(t: Test): Promise<Setup> {
  const stub = await startStubOpenAi()
  t.teardown(() => stub.close())
  const provider = { id: 'stub', adapter: 'openai', apiKey: 'k', baseUrl: `${stub.url}/v1`, models: { llm: ['mock'] } }
  const server = await serverInTime(t, {
    PARLEY_PROVIDERS: JSON.stringify([provider]),
    PARLEY_LIMITS_PROVIDER_CONNECTIONS_MAX: String(connectionsMax),
    // With this setting a single failure opens the circuit, so the test notices each failure that counts against the
    // provider.
    PARLEY_CIRCUIT_FAILURES_MAX: '1',
  })
  const admin = await openAdministration(server)
  t.teardown(() => admin.close())
  const { clock } = server
  const [hostile, honest] = [await admin.organization('hostile'), await admin.organization('honest')]
  stub.behave(...Array.from({ length: 100 }, () => behaviour))
  return { stub, clock, hostile: { ...hostile, clock }, honest: { ...honest, clock } }
}

const answer = (from: Target) => postJson(from, responses, ask('hello', routing))

const delta = { choices: [{ index: 0, delta: { content: 'Hello' }, finish_reason: null }] }
const message = { role: 'assistant', content: 'Hello.' }
const whole = { choices: [{ index: 0, message, finish_reason: 'stop' }], usage: stubUsage }
const inJson = (value: object) => JSON.stringify({ id: 'chatcmpl-1', model: 'mock', ...value })

/** A stream begins and never ends. */
const behaviour: Behaviour = {
  kind: 'custom',
  answer({ json }, response) {
    const isStream = json['stream'] === true
    response.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' })
    if (isStream) return response.write(`data: ${inJson(delta)}\n\n`)
    return response.end(inJson(whole))
  },
}

/** Asks for streams, and keeps them until the test ends. */
function openStreams(t: Test, { url, key }: Target, count: number): void {
  const ended = new AbortController()
  t.teardown(() => ended.abort())
  for (let i = 0; i < count; i++) {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const body = JSON.stringify(ask('hello', { ...routing, stream: true }))
    const wanted = { method: 'POST', headers: { ...headers, 'idempotency-key': randomUUID() }, body }
    fetch(url + responses, { ...wanted, signal: ended.signal }).catch(() => {})
  }
}

overEngines(t, (t) => {
  t.test('streams of one organization leave a share of the connections to another organization', async (t) => {
    const { stub, clock, hostile, honest } = await setUp(t)
    for (const each of [hostile, honest]) t.equal((await answer(each)).status, 200)
    const before = stub.requests.length
    openStreams(t, hostile, connectionsMax)
    await clock.until('the streams are open', () => stub.requests.length >= before + connectionsMax - share)
    await clock.advance(2000)
    t.equal(stub.requests.length, before + connectionsMax - share, 'one share stays free')
    const startedMs = clock.monotonicMs()
    t.equal((await answer(honest)).status, 200)
    t.ok(clock.monotonicMs() - startedMs < 100, 'at once')
  })

  t.test(
    'a request without a free provider connection is answered 503 with Retry-After, and the provider stays healthy',
    async (t) => {
      const { stub, clock, hostile, honest } = await setUp(t)
      for (const each of [hostile, honest]) t.equal((await answer(each)).status, 200)
      openStreams(t, hostile, connectionsMax - share)
      await clock.until('the streams are open', () => stub.requests.length === 2 + connectionsMax - share)
      const startedMs = clock.monotonicMs()
      const refused = await answer(hostile)
      t.equal(refused.status, 503)
      t.match(refused.json().error, { code: 'provider_unavailable', attempts: [{ outcome: 'overloaded' }] })
      t.equal(refused.headers.get('retry-after'), '1')
      t.ok(clock.monotonicMs() - startedMs <= 2000, 'the wait is at most 2 s')
      t.equal((await answer(honest)).status, 200)
    },
  )
})
