/**
 * Wherever a client names a routing objective, `accuracy` means `quality`, because published clients send only
 * `accuracy`.
 */
import t from 'tap'
import { send } from '../router/requests.ts'
import { type Answer, startReceiver } from '../webhooks/receiver.ts'
import { call, faultOf, routeOf, startAdministered } from './setup.ts'

const { admin } = await startAdministered(t, { PARLEY_OUTBOUND_ALLOWED_SUBNETS: '127.0.0.0/8' })
const acme = await admin.organization('with the word accuracy')

type WithId = { id: string }
const intent = { language: 'en', optimizeFor: 'accuracy' }
const optimizing = (optimizeFor: string) => ({ language: 'en', optimizeFor })

t.test('agents and sessions accept optimizeFor "accuracy", and the session uses "quality"', async (t) => {
  const created = await call(acme, 'POST', '/v1/agents', { name: 'a', systemPrompt: 'x', intent })
  t.match([created.status, created.json()], [201, { intent }], created.text)
  const path = `/v1/agents/${created.json<WithId>().id}`
  t.equal((await call(acme, 'PATCH', path, { intent: optimizing('latency') })).status, 200)
  t.match((await call(acme, 'PATCH', path, { intent })).json(), { intent })
  for (const wanted of [{ intent }, { agentId: created.json<WithId>().id }]) {
    const started = await call(acme, 'POST', '/v1/sessions', wanted)
    t.equal(started.status, 201, started.text)
    const shown = await call(acme, 'GET', `/v1/sessions/${started.json<{ sessionId: string }>().sessionId}`)
    t.match(shown.json(), { pipelineConfig: { intent: { optimizeFor: 'quality' } } })
  }
  const refused = await call(acme, 'POST', '/v1/sessions', { intent: optimizing('speed') })
  t.same(faultOf(refused).paths, ['/intent/optimizeFor'])
})

t.test('a pre-call answer with optimizeFor "accuracy" is valid, and all its overrides are applied', async (t) => {
  const overrides = { intent: { optimizeFor: 'accuracy' }, systemPrompt: 'Be kind.', metadata: { a: 1 } }
  const answer: Answer = (response) => response.end(JSON.stringify(overrides))
  const receiver = await startReceiver(answer)
  t.teardown(() => receiver.close())
  const endpoint = { name: 'before', url: receiver.url, events: ['call.pre_call'] }
  const { id } = (await call(acme, 'POST', '/v1/webhooks', endpoint)).json<WithId>()
  t.match((await call(acme, 'POST', `/v1/webhooks/${id}/test`)).json(), { preCall: { valid: true, issues: [] } })
  const started = await call(acme, 'POST', '/v1/sessions', { intent: optimizing('cost') })
  const { sessionId } = started.json<{ sessionId: string }>()
  t.match((await call(acme, 'GET', `/v1/sessions/${sessionId}`)).json(), {
    metadata: { a: 1 },
    pipelineConfig: { intent: { optimizeFor: 'quality' }, systemPrompt: 'Be kind.' },
  })
})

t.test('the model list, the route preview and requests accept the objective "accuracy" as "quality"', async (t) => {
  for (const path of [
    '/router/v1/models?objective=accuracy',
    '/v1/routing/preview?stage=tts&language=en&objective=accuracy',
  ])
    t.match((await send(acme, path)).json(), { objective: 'quality' }, path)
  const explicit = { mode: 'explicit', model: 'local/scripted', objective: 'accuracy' }
  const input = [{ type: 'message', role: 'user', content: [{ type: 'text', text: 'Hi' }] }]
  const ask = (routing: object, key: string) =>
    send(acme, '/router/v1/llm/responses', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': key },
      body: JSON.stringify({ routing, input, max_output_tokens: 20 }),
    })
  const routed = await ask({ mode: 'auto', objective: 'accuracy' }, 'accuracy-1')
  t.equal(routed.status, 200, routed.text)
  t.match(await routeOf(t, acme, routed), { objective: 'quality' })
  t.match((await ask(explicit, 'accuracy-2')).json(), { error: { param: '/routing/objective' } })
  t.match((await ask({ mode: 'auto', objective: 'speed' }, 'accuracy-3')).json(), {
    error: { param: '/routing/objective' },
  })
})
