/**
 * With the setting `clients: family`, speech routes and sockets have the hosted product's names, and operations stream.
 */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import t from 'tap'
import WebSocket from 'ws'
import { startStubOpenAi, stubText } from '../providers/stub-openai.ts'
import { send } from '../router/requests.ts'
import { serverWith, type TestServer } from '../server.ts'

const stub = await startStubOpenAi()
t.teardown(() => stub.close())
const provider = { id: 'stub', adapter: 'openai', baseUrl: `${stub.url}/v1`, apiKey: 'none', models: { llm: ['chat'] } }
const providers = { PARLEY_PROVIDERS: JSON.stringify([provider]) }
const family = await serverWith({ ...providers, PARLEY_CLIENTS: 'family' })
const plain = await serverWith(providers)
const acme = await serverWith({ ...providers, PARLEY_CLIENTS: 'family', PARLEY_HEADER_PREFIX: 'Acme' })

/**
 * Sends the request like the SDKs for Python and TypeScript: without the header Accept, or with a header that accepts
 * any type.
 */
function complete(server: TestServer, headers: Record<string, string> = {}) {
  const body = JSON.stringify({ messages: [{ role: 'user', content: 'Hello?' }], intent: { language: 'en' } })
  return send(server, '/v1/complete', {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', ...headers },
  })
}

t.test('`complete` streams to clients that send no Accept header', async (t) => {
  const { status, headers, text } = await complete(family)
  t.equal(status, 200, text)
  t.match(headers.get('content-type'), /event-stream/)
  t.match(text, /event: meta[\s\S]+event: delta[\s\S]+event: done/)
  t.match(
    (await complete(family, { accept: 'application/json' })).json(),
    { text: stubText },
    'JSON where it is asked for',
  )
  t.match((await complete(plain)).json(), { text: stubText }, 'without the setting it does not')
})

t.test('headers have the prefix of the hosted product, or the prefix that the operator configured', async (t) => {
  for (const [server, prefix] of [
    [family, 'speko'],
    [plain, 'service'],
    [acme, 'acme'],
  ] as const)
    t.ok((await complete(server)).headers.has(`${prefix}-request-id`), prefix)
  const audio = await readFile(path.join(import.meta.dirname, '../fixtures/speech/privacy-prompt.wav'))
  const intent = JSON.stringify({ language: 'en', optimizeFor: 'accuracy' })
  const headers = {
    'content-type': 'audio/wav',
    'x-speko-intent': intent,
    'x-speko-stt-options': '{"keywords":["phone"]}',
  }
  const transcribed = await send(family, '/v1/transcribe', { method: 'POST', body: audio, headers })
  t.match(transcribed.text, /event: meta[\s\S]+event: done/)
  const wrong = { method: 'POST', body: audio, headers: { ...headers, 'x-speko-intent': 'no JSON' } }
  t.equal((await send(family, '/v1/transcribe', wrong)).status, 400, 'the header is read')
  t.equal((await send(plain, '/v1/transcribe', wrong)).status, 200, 'the header has no meaning there')
})

t.test('an answer with speech has the provider in the headers that the SDKs read', async (t) => {
  const body = JSON.stringify({ text: 'Hello.', intent: { language: 'en' } })
  const spoken = await send(family, '/v1/synthesize', {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json' },
  })
  for (const [name, value] of [
    ['x-speko-provider', /^local$/],
    ['x-speko-failover-count', /^0$/],
  ] as const)
    t.match(spoken.headers.get(name), value, name)
})

t.test('WebSockets accept the subprotocol of the hosted product', async (t) => {
  const url = `${family.url.replace('http', 'ws')}/v1/transcribe/stream`
  const socket = new WebSocket(url, ['speko.realtime.v1'], { headers: { authorization: `Bearer ${family.key}` } })
  await new Promise((resolve, reject) => {
    socket.on('open', resolve)
    socket.on('error', reject)
  })
  t.equal(socket.protocol, 'speko.realtime.v1')
  socket.close()
})
