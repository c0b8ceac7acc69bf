/** The spans of requests at a local sink (OTLP over HTTP as JSON). */
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import t from 'tap'
import { answer, pinned, stubProviders } from '../platform/setup.ts'
import { startStubOpenAi } from '../providers/stub-openai.ts'
import { ask, responses, send } from '../router/requests.ts'
import { startParley, testKey } from './parley.ts'

type Value = { stringValue?: string; intValue?: string | number; doubleValue?: number }
type Span = {
  name: string
  kind: number
  traceId: string
  spanId: string
  parentSpanId?: string
  attributes: { key: string; value: Value }[]
  status?: { code?: number }
}
type Exported = {
  resourceSpans: { resource: { attributes: { key: string; value: Value }[] }; scopeSpans: { spans: Span[] }[] }[]
}

const exported: Exported[] = []
const sink = createServer((request, response) => {
  void json(request).then((body) => {
    exported.push(body as Exported)
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
})
await new Promise<void>((resolve) => sink.listen(0, '127.0.0.1', resolve))
t.teardown(() => {
  sink.closeAllConnections()
  sink.close()
})
const stub = await startStubOpenAi()
t.teardown(() => stub.close())
const parley = await startParley({
  PARLEY_PROVIDERS: stubProviders(stub),
  OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(sink.address() as AddressInfo).port}`,
  OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test,service.instance.id=one',
  OTEL_SERVICE_NAME: 'parley-of-a-test',
  OTEL_BSP_SCHEDULE_DELAY: '100',
})
t.teardown(() => parley.remove())
const target = { url: parley.url, key: testKey }

const spans = () =>
  exported
    .flatMap(({ resourceSpans }) => resourceSpans)
    .flatMap(({ scopeSpans }) => scopeSpans)
    .flatMap(({ spans }) => spans)
const valuesOf = (attributes: Span['attributes']) =>
  Object.fromEntries(
    attributes.map(({ key, value }) => [key, value.stringValue ?? Number(value.intValue ?? value.doubleValue)]),
  )

async function until(isDone: () => boolean): Promise<void> {
  for (let tries = 0; tries < 600 && !isDone(); tries++) await new Promise((resolve) => setTimeout(resolve, 50))
  if (!isDone()) throw new Error('the spans have not come')
}

t.test('a request and its attempt are one trace, which the client began', async (t) => {
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
  const [server, client] = ['POST', 'chat'].map((name) => spans().find((span) => span.name.startsWith(name))) as [
    Span,
    Span,
  ]
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
  t.notMatch(JSON.stringify(exported), new RegExp(testKey), 'no key')
  const [{ resource }] = exported[0]?.resourceSpans as [Exported['resourceSpans'][number]]
  t.match(valuesOf(resource.attributes), {
    'service.name': 'parley-of-a-test',
    'deployment.environment.name': 'test',
    'service.instance.id': 'one',
  })
})

t.test('probes have no spans', async (t) => {
  for (const path of ['/healthz', '/readyz']) await fetch(`${parley.url}${path}`)
  const before = spans().length
  await answer(target, pinned('local/scripted'))
  await until(() => spans().length > before + 1)
  t.notOk(spans().some(({ attributes }) => /health|ready/.test(String(valuesOf(attributes)['http.route']))))
})
