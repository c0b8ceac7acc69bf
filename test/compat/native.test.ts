/**
 * The operations in our own form, not OpenAI's, as published clients use them: without an Accept header, with
 * `accuracy`, with both forms of tool definitions.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { CompletionText } from '../../handlers/compat/native/completion-text.ts'
import { until } from '../process/machine.ts'
import { startStubOpenAi, stubText } from '../providers/stub-openai.ts'
import { type Answer, readEvents, send } from '../router/requests.ts'
import { ownServer } from '../server.ts'

const stub = await startStubOpenAi()
const models = { llm: ['chat'], stt: ['whisper'] }
t.teardown(() => stub.close())
const parley = await ownServer(t, {
  PARLEY_COMPLETE_STREAMS: 'true',
  PARLEY_PROVIDERS: JSON.stringify([
    { id: 'stub', adapter: 'openai', apiKey: 'k', baseUrl: `${stub.url}/v1`, models },
    { id: 'other', adapter: 'openai', apiKey: 'k', baseUrl: `${stub.url}/v1`, models: { stt: ['whisper'] } },
  ]),
})

const prompt = readFileSync(path.resolve(import.meta.dirname, '../fixtures/speech/please-try-call-later.wav'))
const sent = () => stub.requests.at(-1)?.json ?? {}
const asJson = { accept: 'application/json' }

// Sends a request to the operation `complete`, which answers in JSON by default. If `headers` has no Accept, fetch
// accepts any type.
function complete(body: object, headers: Record<string, string> = asJson): Promise<Answer> {
  const usual = { 'content-type': 'application/json', ...headers }
  const text = JSON.stringify({ model: 'stub:chat', ...body })
  return send(parley, '/v1/complete', { method: 'POST', body: text, headers: usual })
}

function transcribe(headers: Record<string, string>): Promise<Answer> {
  const usual = { 'content-type': 'audio/wav', ...headers }
  return send(parley, '/v1/transcribe', { method: 'POST', body: new Uint8Array(prompt), headers: usual })
}

t.test('with the setting complete.streams, answers stream unless JSON is requested', async (t) => {
  for (const headers of [{}, { accept: '*/*' }, { accept: 'text/event-stream' }]) {
    const answer = await complete({ prompt: 'Hi' }, headers)
    t.match(answer.headers.get('content-type'), /^text\/event-stream/, JSON.stringify(headers))
  }
  t.equal((await complete({ prompt: 'Hi' })).headers.get('content-type'), 'application/json')
  const events = readEvents((await transcribe({ 'x-service-stt-options': '{"model":"local:moonshine-tiny-en"}' })).text)
  t.same(
    events.map(({ event }) => event),
    ['meta', 'transcript', 'done'],
  )
  t.match(events[0]?.data, { provider: 'local', failoverCount: 0, scoresRunId: /^sha256:[0-9a-f]{64}$/ })
  t.equal((await transcribe(asJson)).headers.get('content-type'), 'application/json')
})

t.test('the meta event has the number of failovers and the digest of the catalog', async (t) => {
  const events = readEvents((await complete({ prompt: 'Hi' }, {})).text)
  const [meta] = events
  const preview = await send(parley, '/v1/routing/preview?stage=llm&language=en')
  const { catalog_digest: scoresRunId } = preview.json<{ catalog_digest: string }>()
  t.match(meta?.data, { provider: 'stub', model: 'chat', failoverCount: 0, scoresRunId, requestId: /^req_/ })
  t.match(meta?.data, { totalFailoverCount: 0, hop: 0 })
  t.match(events.at(-1)?.data, { failoverCount: 0, scoresRunId }, 'so has the last event')
  t.match((await complete({ prompt: 'Hi' })).json(), { failoverCount: 0, scoresRunId }, 'and the answer in JSON')
})

t.test('flat and wrapped tool definitions reach the provider in the same form', async (t) => {
  stub.behave({ kind: 'tool_call' })
  const parameters = { type: 'object', properties: { city: { type: 'string' } } }
  const flat = { name: 'weather', description: 'The weather.', parameters }
  const wrapped = { type: 'function', function: { name: 'clock', strict: true } }
  const answer = await complete({ prompt: 'Hi', tools: [flat, wrapped], toolChoice: { name: 'clock' } })
  t.equal(answer.status, 200, answer.text)
  t.same(sent()['tools'], [{ type: 'function', function: flat }, wrapped])
  t.same(sent()['tool_choice'], { type: 'function', function: { name: 'clock' } })
  const { toolCalls } = answer.json<{ toolCalls: unknown }>()
  t.same(toolCalls, [
    { id: 'call_a', name: 'weather', args: '{"city":"Oslo"}' },
    { id: 'call_b', name: 'clock', args: '{}' },
  ])
  const nameless = await complete({ prompt: 'Hi', tools: [flat, { description: 'x' }] })
  t.match(nameless.json().error, { code: 'invalid_parameter', param: '/tools/1/name', hint: /type: function/ })
})

t.test('the arguments of a tool call may come in pieces, the first of them empty', (t) => {
  const read = (...pieces: object[]) => {
    const completion = new CompletionText()
    for (const made of pieces)
      completion.readChunk({ choices: [{ delta: { tool_calls: [{ index: 0, id: 'call_a', function: made }] } }] })
    return completion.toolCalls()
  }
  t.match(read({ name: 'weather' }, { arguments: '{"city"' }, { arguments: ':"Ulm"}' }), [{ args: '{"city":"Ulm"}' }])
  t.match(read({ name: 'clock', arguments: null }, { arguments: { zone: 'CET' } }), [{ args: '{"zone":"CET"}' }])
  for (const none of ['', ' ', null, 'null']) t.match(read({ name: 'clock', arguments: none }), [{ args: '{}' }])
  t.end()
})

t.test('several tool calls with one index are read separately', (t) => {
  const completion = new CompletionText()
  for (const id of ['call_a', 'call_b']) {
    const call = { index: 0, id, function: { name: 'clock', arguments: `{"of":"${id}"}` } }
    completion.readChunk({ choices: [{ delta: { tool_calls: [call] } }] })
  }
  t.match(completion.toolCalls(), [{ args: '{"of":"call_a"}' }, { args: '{"of":"call_b"}' }])
  t.end()
})

t.test('a history of messages, tool calls and results is converted', async (t) => {
  const messages = [
    { role: 'user', content: 'Weather and time?' },
    {
      role: 'assistant',
      content: 'One moment.',
      toolCalls: [
        { id: 'call_a', name: 'weather', args: '{"city":"Oslo"}' },
        { id: 'call_b', name: 'clock', args: { zone: 'CET' } },
        { id: 'call_c', name: 'clock' },
        { id: 'call_d', name: 'clock', args: '' },
      ],
    },
    { role: 'tool', toolCallId: 'call_a', content: 'rain' },
    { role: 'tool', toolCallId: 'call_b', content: 'No clock.', isError: true },
    { role: 'tool', toolCallId: 'call_c', content: 'noon', isError: false },
  ]
  t.match((await complete({ messages })).json(), { text: stubText })
  const call = (id: string, name: string, text: string) => ({
    id,
    type: 'function',
    function: { name, arguments: text },
  })
  t.same(sent()['messages'], [
    messages[0],
    {
      role: 'assistant',
      content: 'One moment.',
      tool_calls: [
        call('call_a', 'weather', '{"city":"Oslo"}'),
        call('call_b', 'clock', '{"zone":"CET"}'),
        call('call_c', 'clock', '{}'),
        call('call_d', 'clock', '{}'),
      ],
    },
    { role: 'tool', tool_call_id: 'call_a', content: 'rain' },
    { role: 'tool', tool_call_id: 'call_b', content: 'Error: No clock.' },
    { role: 'tool', tool_call_id: 'call_c', content: 'noon' },
  ])
  const toolCalls = [{ id: 'call_a', name: 'weather', args: '{"city"' }]
  const broken = await complete({ messages: [{ role: 'assistant', toolCalls }] })
  t.match(broken.json().error, {
    code: 'invalid_parameter',
    param: '/messages/0/toolCalls/0/args',
    message: /must be JSON/,
  })
  const deep = [{ id: 'call_a', name: 'weather', args: `${'['.repeat(65)}${']'.repeat(65)}` }]
  const refused = await complete({ messages: [{ role: 'assistant', toolCalls: deep }] })
  t.match(
    refused.json().error,
    { code: 'invalid_parameter', param: '/messages/0/toolCalls/0/args' },
    'too deep to read',
  )
})

t.test('`synthesize` passes a voice id on unchanged, and refuses a preset name', async (t) => {
  const speak = (path: string, body: object) => {
    const headers = { 'content-type': 'application/json' }
    return send(parley, path, { method: 'POST', headers, body: JSON.stringify({ model: 'local:flite', ...body }) })
  }
  const { data } = (await send(parley, '/v1/models')).json<{ data: { id: string; voices?: { id: string }[] }[] }>()
  const [voice] = data.find(({ id }) => id === 'local:flite')?.voices ?? []
  t.equal((await speak('/v1/synthesize', { text: 'Hold.', voice: voice?.id })).status, 200)
  t.equal((await speak('/v1/audio/speech', { input: 'Hold.', voice: 'nova' })).status, 200)
  const refused = await speak('/v1/synthesize', { text: 'Hold.', voice: 'nova' })
  t.equal(refused.status, 400)
  t.match(refused.json().error, { code: 'capability_unsupported', param: '/voice' })
})

t.test('`transcribe` fails over to the next provider', async (t) => {
  const constraints = JSON.stringify({ allowedProviders: { stt: ['stub', 'other'] } })
  stub.behave({ kind: 'status', status: 500 })
  const answer = await transcribe({ ...asJson, 'x-service-constraints': constraints })
  t.equal(answer.status, 200, answer.text)
  t.match(answer.json(), { provider: 'other', failoverCount: 1, scoresRunId: /^sha256:/, requestId: /^req_/ })
  t.equal(answer.headers.get('x-service-failover-count'), '1')
})

t.test('`accuracy` in optimizeFor has the same meaning as `quality`', async (t) => {
  const answer = await complete({ prompt: 'Hi', model: 'auto', intent: { language: 'en', optimizeFor: 'accuracy' } })
  t.equal(answer.status, 200, answer.text)
  const route = () => send(parley, `/v1/requests/${answer.headers.get('service-request-id')}/route`)
  await until('the route is stored', async () => (await route()).status === 200)
  t.match((await route()).json(), { objective: 'quality' })
  t.equal((await transcribe({ 'x-service-intent': '{"optimizeFor":"accuracy"}', ...asJson })).status, 200)
  t.match((await complete({ prompt: 'Hi', intent: { optimizeFor: 'speed' } })).json().error, {
    param: '/intent/optimizeFor',
  })
})

t.test('x-service-stt-options accepts a language, which overrides the language of the intent', async (t) => {
  const options = (language: string) => JSON.stringify({ model: 'stub:whisper', language })
  const asked = { 'x-service-stt-options': options('de'), 'x-service-intent': '{"language":"fr"}', ...asJson }
  t.equal((await transcribe(asked)).status, 200)
  const language = stub.requests.at(-1)?.parts.find(({ name }) => name === 'language')
  t.equal(language?.body.toString(), 'de')
  const wrong = await transcribe({ 'x-service-stt-options': options('no language'), ...asJson })
  t.match(wrong.json().error, { code: 'invalid_parameter', param: 'x-service-stt-options' })
})
