/** Tests the trace spans of one call at a local receiver: a browser session with a turn, a tool and webhooks. */
import t from 'tap'
import { call, stubProviders } from '../platform/setup.ts'
import { startStubOpenAi } from '../providers/stub-openai.ts'
import { Page } from '../session/voice-session.ts'
import { startReceiver } from '../webhooks/receiver.ts'
import { startAdministeredProgram } from './administered.ts'
import { until } from './machine.ts'
import { type SpanAtSink, startSpanSink, treeOf, valuesOf } from './span-sink.ts'

const [sink, stub, hook] = await Promise.all([startSpanSink(), startStubOpenAi(), startReceiver()])
const tool = await startReceiver((response) => response.writeHead(200).end('{"eta":"noon"}'))
t.teardown(() => Promise.all([sink.close(), stub.close(), hook.close(), tool.close()]))
const { parley, admin } = await startAdministeredProgram(t, {
  PARLEY_PROVIDERS: stubProviders(stub, [{ id: 'loopback', adapter: 'loopback' }]),
  PARLEY_OUTBOUND_ALLOWED_SUBNETS: '127.0.0.0/8',
  PARLEY_LOG_LEVEL: 'info',
  OTEL_EXPORTER_OTLP_ENDPOINT: sink.url,
  OTEL_BSP_SCHEDULE_DELAY: '100',
})
const secret = 'quokka'

const contextIn = (headers: Record<string, unknown>) => /^00-(\w{32})-(\w{16})-01$/.exec(String(headers['traceparent']))
const ofCall = (id: string) => sink.spans().filter(({ traceId }) => traceId === id.replaceAll('-', ''))
const deliveries = (spans: readonly SpanAtSink[]) => spans.filter(({ name }) => name.startsWith('webhook '))

t.test('all spans of a call form one tree, under the trace id of the call', async (t) => {
  const acme = await admin.organization('traced', { scopes: ['router', 'platform', 'admin'] })
  const events = ['call.pre_call', 'call.status', 'call.report']
  const wanted = { name: 'crm', url: hook.url, events }
  t.equal((await call(acme, 'POST', '/v1/webhooks', wanted)).status, 201)
  stub.behave(
    { kind: 'call', name: 'find_order', arguments: `{"order":"${secret}"}` },
    { kind: 'ok', text: 'At noon.' },
  )
  const page = await Page.join(acme, {
    intent: { language: 'en' },
    constraints: { allowedProviders: { stt: ['loopback'], llm: ['main'], tts: ['main'] } },
    systemPrompt: secret,
    tools: [
      {
        name: 'find_order',
        description: 'Finds an order.',
        parameters: { type: 'object', properties: { order: { type: 'string' } } },
        source: { kind: 'webhook', url: tool.url },
        preToolSpeech: 'never',
      },
    ],
  })
  page.send({ type: 'user_message', text: `Where is ${secret}?` })
  await until('an answer', () => page.all('agent_message').some((frame) => frame['isFinal'] === true))
  page.send({ type: 'end' })
  await page.first('end')
  await sink.until(() => deliveries(ofCall(page.id)).length >= 4)
  await sink.until(() => ofCall(page.id).some(({ name }) => name.startsWith('GET ')))
  const spans = ofCall(page.id)
  const tree = treeOf(spans)
  t.comment(tree)
  t.match(tree, /^browser call .*\n {2}webhook call\.pre_call /)
  t.match(tree, /\n {4}chat chat .* response\.model=chat-2026-11-01 /)

  const ids = new Set(spans.map(({ spanId }) => spanId))
  const roots = spans.filter(({ parentSpanId }) => !parentSpanId)
  t.equal(roots.length, 1)
  t.equal(roots[0]?.name, 'browser call')
  for (const { name, parentSpanId } of spans)
    t.ok(!parentSpanId || ids.has(parentSpanId), `the parent of ${name} is known`)
  const turn = spans.find(({ name }) => name === 'agent turn') as SpanAtSink
  const under = spans.filter(({ parentSpanId }) => parentSpanId === turn.spanId).map(({ name }) => name)
  for (const name of ['chat chat', 'execute_tool find_order', 'text_to_speech speak']) t.ok(under.includes(name), name)
  t.equal(under.filter((name) => name === 'chat chat').length, 2, 'the LLM was asked again with the result')

  t.test('names and attributes of spans follow the OpenTelemetry conventions', (t) => {
    const named = (name: string) => valuesOf(spans.find((span) => span.name === name)?.attributes ?? [])
    t.match(named('browser call'), {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.conversation.id': page.id,
      'parley.call.end_reason': 'user_hangup',
    })
    t.match(named('chat chat'), {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'main',
      'gen_ai.request.model': 'chat',
      'gen_ai.response.model': 'chat-2026-11-01',
      'gen_ai.conversation.id': page.id,
      'gen_ai.usage.input_tokens': Number,
      'gen_ai.usage.output_tokens': Number,
      'gen_ai.response.time_to_first_chunk': Number,
    })
    t.match(named('execute_tool find_order'), {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'find_order',
    })
    t.match(named('GET /v1/sessions/{id}/media'), { 'parley.operation': 'sessionMedia' })
    t.end()
  })

  t.test('providers, tools and endpoints receive the id of the span that calls them', (t) => {
    const receivers: [string, readonly { path: string; headers: Record<string, unknown> }[], RegExp][] = [
      ['the LLM and the voice', stub.requests, /^(chat|text_to_speech)/],
      ['the tool', tool.received, /^execute_tool/],
      ['the endpoint', hook.received, /^webhook/],
    ]
    for (const [who, requests, name] of receivers) {
      t.ok(requests.length > 0, who)
      for (const { path, headers } of requests) {
        const [, traceId, spanId] = contextIn(headers) ?? []
        t.equal(traceId, page.id.replaceAll('-', ''), path)
        t.match(spans.find((span) => span.spanId === spanId)?.name, name)
      }
    }
    t.end()
  })

  await t.test('the log lines of the call name its trace', async (t) => {
    const lines = () =>
      parley
        .output()
        .split('\n')
        .filter((line) => line.includes('"msg":"socket"'))
    await until('the line of the socket', () => lines().length > 0)
    const line = JSON.parse(lines()[0] as string) as Record<string, unknown>
    t.match(line, { traceId: page.id.replaceAll('-', ''), spanId: String, organizationId: acme.id, callId: page.id })
  })

  t.notMatch(JSON.stringify(sink.spans()), new RegExp(secret), 'no content')
})
