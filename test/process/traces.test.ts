/** Tests the spans for requests at a local receiver (OTLP over HTTP as JSON). */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { testKey } from '../installation.ts'
import { answer, pinned, stubProviders } from '../platform/setup.ts'
import { startStubOpenAi } from '../providers/stub-openai.ts'
import { start } from '../realtime/socket.ts'
import { ask, responses, send } from '../router/requests.ts'
import { until as happens } from './machine.ts'
import { startParley } from './parley.ts'
import { type SpanAtSink, startSpanSink, valuesOf } from './span-sink.ts'

const sink = await startSpanSink()
t.teardown(() => sink.close())
const stub = await startStubOpenAi()
t.teardown(() => stub.close())
const parley = await startParley({
  PARLEY_PROVIDERS: stubProviders(stub, [{ id: 'loopback', adapter: 'loopback' }]),
  PARLEY_LOG_LEVEL: 'info',
  OTEL_EXPORTER_OTLP_ENDPOINT: sink.url,
  OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test,service.instance.id=one',
  OTEL_SERVICE_NAME: 'parley-of-a-test',
  OTEL_BSP_SCHEDULE_DELAY: '100',
})
t.teardown(() => parley.remove())
const target = { url: parley.url, key: testKey }

const { spans, until } = sink

t.test('a request and its attempt belong to the trace that the client began', async (t) => {
  const traceId = '0af7651916cd43dd8448eb211c80319c'
  const headers = {
    traceparent: `00-${traceId}-b7ad6b7169203331-01`,
    'content-type': 'application/json',
    'idempotency-key': randomUUID(),
  }
  const body = JSON.stringify(ask('Hello.', { routing: pinned('local/scripted') }))
  const answered = await send(target, responses, { method: 'POST', headers, body })
  t.equal(answered.status, 200, answered.text)
  await until(() => spans().filter((span) => span.traceId === traceId).length === 2)
  const named = (start: string) => spans().find(({ name }) => name.startsWith(start)) as SpanAtSink
  const [server, client] = [named('POST'), named('chat')]
  t.equal(server.parentSpanId, 'b7ad6b7169203331')
  t.equal(client.parentSpanId, server.spanId)
  t.match(valuesOf(client.attributes), {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'local',
    'gen_ai.request.model': /scripted/,
    'gen_ai.usage.output_tokens': Number,
    'parley.outcome': 'succeeded',
    'parley.request.id': answered.headers.get('service-request-id'),
  })
  t.notMatch(JSON.stringify(spans()), new RegExp(testKey), 'no key')
  t.match(sink.resource(), {
    'service.name': 'parley-of-a-test',
    'deployment.environment.name': 'test',
    'service.instance.id': 'one',
  })
})

t.test('health and readiness checks have no spans', async (t) => {
  for (const path of ['/healthz', '/readyz']) await fetch(`${parley.url}${path}`)
  const before = spans().length
  await answer(target, pinned('local/scripted'))
  await until(() => spans().length > before + 1)
  t.notOk(spans().some(({ attributes }) => /health|ready/.test(String(valuesOf(attributes)['http.route']))))
})

t.test('if a client disconnects during a transcription, the log line names its trace', async (t) => {
  const config = { model: 'loopback/loopback', encoding: 'pcm_s16le', sampleRate: 16000, language: 'en' }
  const socket = await start(target, '/v1/transcribe/stream', config)
  socket.sendBytes(Buffer.alloc(640))
  socket.socket.terminate()
  const lineOf = (msg: string) =>
    parley
      .output()
      .split('\n')
      .find((line) => line.includes(`"msg":"${msg}"`))
  await happens('both lines', () => ['transcription ended early', 'socket'].every((msg) => lineOf(msg) !== undefined))
  const [early, whole] = ['transcription ended early', 'socket'].map(
    (msg) => JSON.parse(lineOf(msg) ?? '{}') as { requestId: string; traceId: string },
  )
  t.match(early, { requestId: whole?.requestId, traceId: whole?.traceId })
  t.match(whole?.traceId, /^[0-9a-f]{32}$/)
})
