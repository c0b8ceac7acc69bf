/** A server's responses match the examples of the platform API. */
import t from 'tap'
import { routeOf, startOwnAdministered } from '../platform/setup.ts'
import { freePort } from '../process/machine.ts'
import { postJson, speech, type Target } from '../router/requests.ts'
import { compareAccess } from './access.ts'
import { compareAgents, compareAgentVersions, compareToolTests } from './agents.ts'
import { compareVerification } from './business-verification.ts'
import { compareCallList, compareCallRequests } from './call-list.ts'
import { compareCallbacks } from './callbacks.ts'
import { compareCalls } from './calls.ts'
import { compareConversations } from './conversations.ts'
import { compareCredits } from './credits.ts'
import { comparePhoneNumbers } from './phone-numbers.ts'
import { startProviders } from './providers.ts'
import { compareRmsg } from './rmsg.ts'
import { Examples, idOf, type Received, receiveOverQuota, type Sent } from './run.ts'
import { compareSmsRegistration } from './sms-registration.ts'
import { compareTransfers } from './transfers.ts'
import { compareUsage } from './usage.ts'
import { compareDeliveries } from './webhook-deliveries.ts'

const providers = await startProviders()
t.teardown(() => providers.close())
const sipAddress = `127.0.0.1:${await freePort()}`
const { parley, admin: administration } = await startOwnAdministered(t, {
  ...providers.env,
  PARLEY_OUTBOUND_ALLOWED_SUBNETS: '127.0.0.0/8',
  PARLEY_KYB_REVIEW: 'operator',
  PARLEY_RMSG_KEEP_REMOVED_SEND: 'true',
  PARLEY_EDGE_QUOTA: '0',
  // In the contract's example an imported number is ready, and for that the server needs a SIP address.
  PARLEY_SIP_HOST: '127.0.0.1',
  PARLEY_SIP_PORT: sipAddress.slice(sipAddress.indexOf(':') + 1),
})

const examples = new Examples('platform.openapi.yaml')
const put: Sent = { operation: 'putProviderKey', request: 'key' }
const list: Sent = { operation: 'listProviders' }

t.test("responses about providers and an organization's provider keys match the contract's examples", async (t) => {
  examples.compare(t, await examples.send(parley, put), { example: 'putProviderKey 200: stored' })
  examples.compare(t, await examples.send(parley, list), { example: 'listProviders 200: mixed', parts: [''] })
  const check: Sent = { operation: 'checkProvider' }
  examples.compare(t, await examples.send(parley, check), { example: 'checkProvider 200: answers' })
  providers.acme.behave({ kind: 'status', status: 401, code: 'invalid_api_key' })
  examples.compare(t, await examples.send(parley, check), { example: 'checkProvider 200: refused' })
  const known = { example: 'listKnownProviders 200: known', parts: ['/stt', '/llm', '/tts'] }
  examples.compare(t, await examples.send(parley, { operation: 'listKnownProviders' }), known)
  const voices = { example: 'listVoices 200: one', parts: ['/voices', '/providers'] }
  examples.compare(t, await examples.send(parley, { operation: 'listVoices', parameters: ['provider'] }), voices)
  const figures = {
    errorRate: 0,
    firstByteMs: 212.5,
    p95Ms: null,
    realTimeFactor: null,
    samples: 4,
    asOfMs: Date.now(),
  }
  const report = { key: 'llm:acme/chat-large', path: 'stream' as const, blocked: null, isSuspect: false, ...figures }
  await administration.store.healthReports.write([report])
  const health = await examples.send(parley, { operation: 'listProviderHealth' })
  examples.compare(t, health, { example: 'listProviderHealth 200: mixed', parts: [''] })
  const { status, body } = await examples.send(parley, { operation: 'deleteProviderKey' })
  t.same([status, body.length], [204, 0])
})

t.test("responses about keys, people and the audit log match the contract's examples", (t) =>
  compareAccess(t, examples, parley, administration),
)

t.test("responses about agents and their tools match the contract's examples", (t) =>
  compareAgents(t, examples, administration),
)

t.test("responses about sessions and calls match the contract's examples", (t) =>
  compareCalls(t, examples, { parley, admin: administration }),
)

t.test("responses about trials of tools match the contract's examples", (t) =>
  compareToolTests(t, examples, administration),
)

t.test("responses about the versions of agents match the contract's examples", (t) =>
  compareAgentVersions(t, examples, administration),
)

t.test("responses of the list of calls match the contract's examples", (t) =>
  compareCallList(t, examples, administration),
)

t.test("responses about the requests of a call match the contract's examples", (t) =>
  compareCallRequests(t, examples, administration),
)

t.test("responses about the verification of a business match the contract's examples", (t) =>
  compareVerification(t, examples, administration),
)

t.test("responses about SMS registration match the contract's examples", (t) =>
  compareSmsRegistration(t, examples, administration, parley),
)

t.test("responses about phone numbers match the contract's examples", (t) =>
  comparePhoneNumbers(t, examples, { parley, admin: administration }, sipAddress),
)
t.test("responses about rich messages match the contract's examples", (t) =>
  compareRmsg(t, examples, { parley, admin: administration }),
)

t.test("responses about conversations match the contract's examples", (t) =>
  compareConversations(t, examples, { parley, admin: administration }),
)

t.test("responses about transfers match the contract's examples", (t) =>
  compareTransfers(t, examples, { parley, admin: administration }),
)

t.test("responses about scheduled callbacks match the contract's examples", (t) =>
  compareCallbacks(t, examples, administration),
)

t.test("responses about webhook deliveries match the contract's examples", (t) =>
  compareDeliveries(t, examples, { parley, admin: administration }),
)

t.test("responses about webhook endpoints and the webhook secret match the contract's examples", async (t) => {
  const acme = await administration.organization('with webhooks', { scopes: ['platform', 'admin'] })
  const send = (sent: Sent) => examples.send(acme, sent)
  const equal = (received: Received, ...names: string[]) => {
    for (const example of names) examples.compare(t, received, { example })
  }
  equal(await send({ operation: 'listWebhooks' }), 'listWebhooks 200: none')
  const answers = await send({ operation: 'createWebhook', request: 'answers' })
  equal(answers, 'createWebhook 201: answers')
  equal(await send({ operation: 'createWebhook', request: 'answers' }), 'WebhookConflict: preCall')
  t.equal((await send({ operation: 'deleteWebhook', values: { id: idOf(answers) } })).status, 204)
  const reports = await send({ operation: 'createWebhook', request: 'least' })
  equal(reports, 'createWebhook 201: least')
  const values = { id: idOf(reports) }
  equal(await send({ operation: 'getWebhook', values }), 'getWebhook 200: reports')
  equal(await send({ operation: 'listWebhooks' }), 'listWebhooks 200: one')
  equal(await send({ operation: 'verifyWebhookSignature', request: 'old', values }), 'verifyWebhookSignature 200: old')
  equal(await send({ operation: 'updateWebhook', request: 'fields', values }), 'updateWebhook 200: fields')
  equal(await send({ operation: 'updateWebhook', request: 'disable', values }), 'updateWebhook 200: disable')
  const again = { operation: 'createWebhook', request: 'least' }
  equal(await send({ ...again, fields: { agentIds: ['agent_0123456789012345678901'] } }), 'NotFound: named')
  for (let webhooks = 1; webhooks < 50; webhooks++) await send(again)
  equal(await send(again), 'WebhookConflict: webhooks')
  const secretEqual = (received: Received, example: string, secret: string) => {
    const shown = (JSON.parse(received.body.toString()) as { secret: string }).secret
    examples.compare(t, received, { example, renamed: { [shown]: secret } })
  }
  const webhooks = { status: { url: 'https://shop.example/hooks/status' } }
  const agent = await send({ operation: 'createAgent', request: 'least', fields: { webhooks } })
  const { endpointId } = (JSON.parse(agent.body.toString()) as { webhooks: { status: { endpointId: string } } })
    .webhooks.status
  equal(await send({ operation: 'deleteWebhook', values: { id: endpointId } }), 'WebhookConflict: legacy')
  const first = await send({ operation: 'getWebhookSecret' })
  secretEqual(first, 'getWebhookSecret 200: first', 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=')
  const rotated = await send({ operation: 'rotateWebhookSecret', request: 'hour' })
  secretEqual(rotated, 'rotateWebhookSecret 200: hour', 'whsec_ZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTA=')
})

t.test("responses about the organization of a first local run match the contract's examples", async (t) => {
  const shown = await examples.send(parley, { operation: 'getOrganization' })
  examples.compare(t, shown, { example: 'getOrganization 200: local' })
  const zone = { operation: 'updateOrganization', request: 'zone' }
  examples.compare(t, await examples.send(parley, zone), { example: 'updateOrganization 200: zone' })
  await examples.send(parley, { ...zone, fields: { timeZone: 'UTC' } })
  const changed = await examples.send(parley, { operation: 'updateOrganization', request: 'quiet' })
  examples.compare(t, changed, { example: 'updateOrganization 200: quiet' })
})

t.test("responses about credit and credit movements match the contract's examples", (t) =>
  compareCredits(t, examples, parley, administration),
)

t.test("responses of getUsage match the contract's examples", (t) => compareUsage(t, examples, administration))

t.test("responses of getRequestRoute match the contract's examples", async (t) => {
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

t.test("errors of the platform API match the contract's examples", async (t) => {
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

t.test("the response of getPlatformContract begins like the contract's example", async (t) => {
  await examples.compareDocument(t, parley, 'getPlatformContract')
  await examples.compareDocument(t, parley, 'getSessionContract')
})

t.test("the error rate_limited of the platform API matches the contract's example", async (t) => {
  const refused = await receiveOverQuota(t, '/openapi/platform.json')
  examples.compare(t, refused, { example: 'TooManyRequests: rate_limited' })
})

t.test('each example of the platform API is compared with a response, or is listed with a reason', (t) => {
  examples.complete(t, {
    'InternalError: internal': 'Only a defect of the server is answered so.',
    'MessageTooMany: busy': 'The simulated provider is never busy: test/rmsg/provider.test.ts has one that is.',
    'sendNumberMessage 410: removed': 'The operator keeps the operation here: test/rmsg/removed.test.ts.',
    'NumberFailed: order': 'The simulated carrier does not fail: test/numbers/purchase.test.ts has one that does.',
    'completeTransfer 200: bridging':
      'The two may be connected before the answer; test/phone/transfers.test.ts completes transfers.',
    'dispatchCallback 200: dispatched': 'No carrier is there to take the call.',
    'checkProvider 200: accepted':
      'Only the own address of a vendor proves a key: test/domain/check-provider.test.ts has such a provider.',
    'streamWebhookEvents 200: status': 'A stream ends after ten minutes; test/cli/listen.test.ts reads one.',
    'streamCalls 200: ended': 'A stream ends after ten minutes; test/platform/call-stream.test.ts reads one.',
    'ServiceUnavailable: unavailable': 'A server answers so while it stops: test/process/drain.test.ts.',
    'SmsUnavailable: perhaps_done': 'The database fails behind the carrier: test/platform/lost-answers.test.ts.',
  })
  t.end()
})
