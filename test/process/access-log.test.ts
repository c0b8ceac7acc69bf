/** Tests the access log's line for each request and socket, in each API. The server exports no spans here. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { WebSocket } from 'ws'
import { call, stubProviders } from '../platform/setup.ts'
import { startStubOpenAi } from '../providers/stub-openai.ts'
import { loopbackModel } from '../realtime/socket.ts'
import { ask, responses, send } from '../router/requests.ts'
import { startAdministeredProgram } from './administered.ts'
import { until } from './machine.ts'

type Line = Record<string, unknown>

const stub = await startStubOpenAi()
t.teardown(() => stub.close())
const { parley, admin } = await startAdministeredProgram(t, {
  PARLEY_PROVIDERS: stubProviders(stub, [{ id: 'loopback', adapter: 'loopback' }]),
  PARLEY_LOG_LEVEL: 'info',
})
const acme = await admin.organization('logged', { scopes: ['router', 'platform', 'realtime'] })
const caller = { organizationId: acme.id, keyId: acme.keyId }
const jsonType = { 'content-type': 'application/json' }

const lines = () =>
  parley
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Line)

async function lineOf(matches: (line: Line) => boolean): Promise<Line> {
  await until('a line of the log', () => lines().some(matches))
  return lines().find(matches) as Line
}

t.test('the access log has a line for a request to the router API', async (t) => {
  const body = JSON.stringify(ask('Hello.', { routing: { mode: 'explicit', provider: 'main', model: 'chat' } }))
  const headers = { ...jsonType, 'idempotency-key': randomUUID() }
  t.equal((await send(acme, responses, { method: 'POST', headers, body })).status, 200)
  const line = await lineOf(({ operation }) => operation === 'createResponse')
  t.match(line, { ...caller, provider: 'main', model: 'chat', status: 200, durationMs: Number })
  t.notOk('traceId' in line, 'nobody traces it')
})

t.test('the access log has a line for a request to the OpenAI-compatible API', async (t) => {
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  const headers = { ...jsonType, traceparent, tracestate: 'vendor=1' }
  const body = JSON.stringify({ model: 'main:chat', messages: [{ role: 'user', content: 'Hello.' }] })
  t.equal((await send(acme, '/v1/chat/completions', { method: 'POST', headers, body })).status, 200)
  const line = await lineOf(({ operation }) => operation === 'createChatCompletion')
  t.match(line, { ...caller, provider: 'main', model: 'chat' })
  const [before, asked] = [stub.requests.at(-2), stub.requests.at(-1)]
  t.equal(asked?.headers['traceparent'], traceparent, 'the trace of the client is passed on')
  t.equal(asked?.headers['tracestate'], 'vendor=1')
  t.notOk(before?.headers['traceparent'], 'no traceparent if the client sent none')
})

t.test('the access log has a line for a request to the platform API', async (t) => {
  t.equal((await call(acme, 'GET', '/v1/agents')).status, 200)
  t.match(await lineOf(({ operation }) => operation === 'listAgents'), caller)
})

t.test('the access log has a line for a WebSocket of the realtime API', async (t) => {
  const url = `${acme.url.replace('http', 'ws')}/v1/transcribe/stream`
  const socket = new WebSocket(url, 'service.realtime.v1', { headers: { authorization: `Bearer ${acme.key}` } })
  socket.on('open', () => socket.send(JSON.stringify({ type: 'config', language: 'en', model: loopbackModel })))
  socket.on('message', () => socket.close())
  const line = await lineOf(({ msg, channel }) => msg === 'socket' && channel === 'transcribeStream')
  t.match(line, { ...caller, channel: 'transcribeStream', code: Number })
  t.match(line, { provider: 'loopback', model: String })
})

t.test('the access log names no organization for a request with an unknown key', async (t) => {
  t.equal((await call({ ...acme, key: 'sk_unknown' }, 'GET', '/v1/agents')).status, 401)
  const line = await lineOf(({ status }) => status === 401)
  t.notOk('organizationId' in line || 'keyId' in line)
})
