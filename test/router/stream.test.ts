/** Every event stream has exactly one terminal event, at its end, however the provider behaves. */
import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { overEngines } from '../engine/engines.ts'
import { type Behaviour, startStubOpenAi, stubText } from '../providers/stub-openai.ts'
import { serverInTime } from '../time/server.ts'
import { type Answer, ask, type Envelope, postJson, readEvents, responses } from './requests.ts'

overEngines(t, async (t) => {
  const stub = await startStubOpenAi()
  const providers = JSON.stringify([
    { id: 'mock', adapter: 'openai', baseUrl: `${stub.url}/v1`, apiKey: 'k', models: { llm: ['mock'] } },
  ])
  t.teardown(() => stub.close())
  const parley = await serverInTime(t, {
    PARLEY_PROVIDERS: providers,
    // Every test here makes the provider fail, so the limit is high enough that its circuit stays closed. Another test
    // covers the circuit.
    PARLEY_CIRCUIT_FAILURES_MAX: '1000',
    PARLEY_CIRCUIT_RETRY_AFTER_MAX_MS: '0',
  })

  const pinned = { routing: { mode: 'explicit', provider: 'mock', model: 'mock' } }
  const stream = (more: object = {}) =>
    parley.clock.during(postJson(parley, responses, ask('hello', { stream: true, ...pinned, ...more })))
  const terminals = new Set(['response.completed', 'error'])

  t.test('a streamed answer has text deltas and ends with response.completed', async (t) => {
    stub.behave({ kind: 'ok' })
    const answer = await stream()
    t.equal(answer.status, 200)
    t.match(answer.headers.get('content-type'), /^text\/event-stream/)
    for (const name of [
      'service-request-id',
      'service-attempt-id',
      'service-provider',
      'service-model',
      'service-region',
    ])
      t.ok(answer.headers.get(name), name)
    const events = readEvents(answer.text)
    t.same(
      events.map((event) => event.id),
      events.map((_, index) => String(index)),
      'ids count from 0 without gaps',
    )
    t.equal(events[0]?.event, 'response.created')
    t.equal(
      (events[0]?.data as { response_id: string }).response_id,
      `resp_${answer.headers.get('service-request-id')}`,
    )
    const deltas = events
      .filter((event) => event.event === 'response.text.delta')
      .map((event) => (event.data as { delta: string }).delta)
    t.equal(deltas.join(''), stubText)
    t.notOk(deltas.includes(''), 'a delta is never empty')
    t.equal(events.at(-1)?.event, 'response.completed')
    t.equal(events.filter((event) => terminals.has(event.event)).length, 1)
  })

  t.test("a streamed answer has the request's id, and not the provider's id", async (t) => {
    const whole = await parley.clock.during(postJson(parley, responses, ask('hello', pinned)))
    t.equal(whole.json<{ id: string }>().id, `resp_${whole.headers.get('service-request-id')}`)
    for (const { text } of [whole, await stream()]) t.notMatch(text, 'chatcmpl-1')
  })

  t.test('function calls are streamed', async (t) => {
    stub.behave({ kind: 'tool_call' })
    const tools = [{ name: 'lookup', description: 'Looks up', parameters: { type: 'object', properties: {} } }]
    const events = readEvents((await stream({ tools })).text)
    const calls = events
      .filter((event) => event.event === 'response.item.completed')
      .map((event) => (event.data as { item: { type: string; arguments: string } }).item)
    t.equal(calls.filter((call) => call.type === 'function_call').length, 2)
    for (const call of calls) if (call.type === 'function_call') t.doesNotThrow(() => void JSON.parse(call.arguments))
    t.equal((events.at(-1)?.data as { stop_reason: string }).stop_reason, 'tool_call')
  })

  /** After the first token nothing can be taken back, so a failed stream ends with an `error` event. */
  for (const kind of ['cut', 'reset', 'error_mid', 'garbage'] as const)
    t.test(`if the provider breaks off after a token, the stream ends with an error event: ${kind}`, async (t) => {
      stub.behave({ kind })
      once(t, await stream(), 'error')
    })

  /** These failures come before the first token, so the HTTP status can still report them. */
  const early: [Behaviour, number, string][] = [
    [{ kind: 'hang' }, 504, 'request_timeout'],
    [{ kind: 'headers_only' }, 504, 'request_timeout'],
    [{ kind: 'empty' }, 502, 'provider_error'],
    [{ kind: 'status', status: 500 }, 502, 'provider_error'],
    [{ kind: 'status', status: 429, headers: { 'retry-after': '7' } }, 429, 'provider_rate_limited'],
    [{ kind: 'error_body' }, 502, 'provider_error'],
  ]
  for (const [behaviour, status, code] of early)
    t.test(
      `a failure before the first token sets the HTTP status: ${behaviour.kind} ${'status' in behaviour ? behaviour.status : ''}`,
      async (t) => {
        stub.behave(behaviour)
        const answer = await stream()
        t.equal(answer.status, status)
        t.equal(answer.json().error.code, code)
        t.equal(answer.json().error.attempts?.length, 1)
        if (code === 'provider_rate_limited') t.ok(Number(answer.headers.get('retry-after')) >= 7)
      },
    )

  t.test('if the client leaves, the request at the provider ends', async (t) => {
    stub.behave({ kind: 'hang' })
    const gone = new AbortController()
    const before = stub.requests.length
    const headers = {
      authorization: `Bearer ${parley.key}`,
      'content-type': 'application/json',
      'idempotency-key': randomUUID(),
    }
    const asked = fetch(parley.url + responses, {
      method: 'POST',
      headers,
      body: JSON.stringify(ask('hi', { stream: true, ...pinned })),
      signal: gone.signal,
    })
    asked.catch(() => {})
    while (stub.requests.length === before) await new Promise((resolve) => setTimeout(resolve, 5))
    gone.abort()
    await stub.requests.at(-1)?.closed
    t.pass('the connection to the provider was closed')
    stub.behave({ kind: 'ok' })
    t.equal((await stream()).status, 200, 'and the next request is served')
  })

  function once(t: Test, answer: Answer, last: string) {
    if (answer.status !== 200) {
      t.ok(answer.json().error.code, `${answer.status}: refused before the first token`)
      return
    }
    const events = readEvents(answer.text)
    t.equal(events.filter((event) => terminals.has(event.event)).length, 1, 'one terminal event')
    t.equal(events.at(-1)?.event, last)
    t.ok((events.at(-1)?.data as Envelope).error.request_id)
  }
})
