/** The examples of the platform surface are answers that a server gives. */
import t from 'tap'
import { openAdministration, routeOf } from '../platform/setup.ts'
import { startParley } from '../process/parley.ts'
import { postJson, speech, type Target } from '../router/requests.ts'
import { startProviders } from './providers.ts'
import { Examples, receive, type Sent } from './run.ts'

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
    'InternalError: internal': 'Only a defect of the server is answered so.',
    'ServiceUnavailable: unavailable': 'A server answers so while it stops: test/process/drain.test.ts.',
  })
  t.end()
})
