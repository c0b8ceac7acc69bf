/** The examples of the platform surface are answers that a server gives. */
import t from 'tap'
import { openAdministration, routeOf } from '../platform/setup.ts'
import { startParley } from '../process/parley.ts'
import { postJson, speech, type Target } from '../router/requests.ts'
import { startProviders } from './providers.ts'
import { Examples, type Received, receive, type Sent } from './run.ts'

const providers = await startProviders()
const parley = await startParley(providers.env)
const administration = await openAdministration(parley)
t.teardown(async () => {
  await administration.close()
  await parley.remove()
  await providers.close()
})

const examples = new Examples('platform.openapi.yaml')
const put: Sent = { operation: 'putProviderKey', request: 'key' }
const list: Sent = { operation: 'listProviders' }

t.test('providers and the keys of an organization', async (t) => {
  examples.compare(t, await examples.send(parley, put), { example: 'putProviderKey 200: stored' })
  examples.compare(t, await examples.send(parley, list), { example: 'listProviders 200: mixed', parts: [''] })
  const known = { example: 'listKnownProviders 200: known', parts: ['/stt', '/llm', '/tts'] }
  examples.compare(t, await examples.send(parley, { operation: 'listKnownProviders' }), known)
  const { status, body } = await examples.send(parley, { operation: 'deleteProviderKey' })
  t.same([status, body.length], [204, 0])
})

const made = (received: Received) => (JSON.parse(received.body.toString()) as { id: string }).id

t.test('agents and their tools', async (t) => {
  const acme = await administration.organization('with agents')
  const send = (sent: Sent) => examples.send(acme, sent)
  const equal = (received: Received, ...names: string[]) => {
    for (const example of names) examples.compare(t, received, { example })
  }
  equal(await send({ operation: 'listAgents' }), 'listAgents 200: none')
  const least = await send({ operation: 'createAgent', request: 'least' })
  equal(least, 'createAgent 201: least')
  const values = { id: made(least) }
  equal(await send({ operation: 'deleteAgent', values }), 'deleteAgent 200: deleted')
  const receptionist = await send({ operation: 'createAgent', request: 'receptionist' })
  equal(receptionist, 'createAgent 201: receptionist')
  values.id = made(receptionist)
  equal(await send({ operation: 'getAgent', values }), 'getAgent 200: receptionist')
  equal(await send({ operation: 'listAgents' }), 'listAgents 200: one')
  equal(await send({ operation: 'updateAgent', request: 'change', values }), 'updateAgent 200: change')
  equal(await send({ operation: 'updateAgent', request: 'nothing', values }), 'updateAgent 200: change')

  for (const request of ['builtin', 'inline']) {
    const tool = await send({ operation: 'createAgentTool', request, values })
    equal(tool, `createAgentTool 201: ${request}`)
    const removed = await send({ operation: 'deleteAgentTool', values: { ...values, toolId: made(tool) } })
    equal(removed, 'deleteAgentTool 200: deleted')
  }
  const webhook = await send({ operation: 'createAgentTool', request: 'webhook', values })
  equal(webhook, 'createAgentTool 201: webhook')
  const ofTool = { ...values, toolId: made(webhook) }
  equal(await send({ operation: 'listAgentTools', values }), 'listAgentTools 200: one')
  equal(await send({ operation: 'getAgentTool', values: ofTool }), 'getAgentTool 200: webhook')
  equal(await send({ operation: 'updateAgentTool', request: 'later', values: ofTool }), 'updateAgentTool 200: later')

  const again = { operation: 'createAgentTool', request: 'webhook', values }
  equal(await send({ operation: 'createAgent', request: 'receptionist' }), 'Conflict: agent_name')
  equal(await send(again), 'Conflict: tool_name')
  for (let tools = 1; tools < 64; tools++) await send({ ...again, fields: { name: `tool_${tools}` } })
  equal(await send({ ...again, fields: { name: 'one_more' } }), 'Conflict: limit')
  const broken = { name: 'Broken', systemPrompt: 'You work for {{ shop.' }
  equal(await send({ operation: 'createAgent', request: 'least', fields: broken }), 'BadRequest: rule')
  equal(await send({ operation: 'getAgent' }), 'NotFound: agent')
})

t.test('the organization of a first local run', async (t) => {
  const shown = await examples.send(parley, { operation: 'getOrganization' })
  examples.compare(t, shown, { example: 'getOrganization 200: local' })
  const changed = await examples.send(parley, { operation: 'updateOrganization', request: 'quiet' })
  examples.compare(t, changed, { example: 'updateOrganization 200: quiet' })
})

t.test('getRequestRoute', async (t) => {
  await examples.send(parley, { ...put, fields: { provider: 'hooli' } })
  providers.hooli.behave('rate_limited')
  const routing = { mode: 'auto', objective: 'latency' }
  const made = await postJson(parley, speech, { input: 'Your table is booked for seven.', language: 'en', routing })
  const { request_id: id } = await routeOf(t, parley, made)
  const sent = { operation: 'getRequestRoute', values: { id } }
  examples.compare(t, await examples.send(parley, sent), {
    example: 'getRequestRoute 200: failover',
    parts: ['/excluded'],
    renamed: { 'aura-2': 'voice-3' },
  })
})

t.test('faults', async (t) => {
  const noScope = await administration.organization('without a scope', { scopes: ['router'] })
  const faults: readonly [example: string, sent: Sent, target?: Target][] = [
    ['BadRequest: field', { ...put, fields: { apiKey: 'with a space' } }],
    ['Unauthorized: no_key', list, { ...parley, key: '' }],
    ['Forbidden: scope', list, noScope],
    ['NotFound: request', { operation: 'getRequestRoute' }],
    ['NotFound: provider', { operation: 'deleteProviderKey' }],
    ['PayloadTooLarge: large', { ...put, fields: { apiKey: 'x'.repeat(9_000_000) } }],
    ['UnsupportedMedia: type', { ...put, headers: { 'content-type': 'text/html' } }],
  ]
  for (const [example, sent, target = parley] of faults)
    examples.compare(t, await examples.send(target, sent), { example })
})

t.test('getPlatformContract', async (t) => {
  await examples.compareDocument(t, parley, 'getPlatformContract')
})

/** The last test with this server, because it uses up the quota. */
t.test('TooManyRequests: rate_limited', async (t) => {
  let received = await receive(parley, '/openapi/platform.json')
  for (let tries = 0; received.status === 200 && tries < 300; tries++)
    received = await receive(parley, '/openapi/platform.json')
  examples.compare(t, received, { example: 'TooManyRequests: rate_limited' })
})

t.test('each example is compared or listed', (t) => {
  examples.complete(t, {
    'createSession: agent': 'No session starts yet.',
    'createSession: adHoc': 'No session starts yet.',
    'createSession 201: agent': 'No session starts yet.',
    'createSession 201: adHoc': 'No session starts yet.',
    'PaymentRequired: credit': 'No session starts yet.',
    'InternalError: internal': 'Only a defect of the server is answered so.',
    'ServiceUnavailable: unavailable': 'A server answers so while it stops: test/process/drain.test.ts.',
  })
  t.end()
})
