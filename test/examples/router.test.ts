/** A server's responses match the examples of the router API. */

import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
import t from 'tap'
import { wavHeader } from '../../audio/wav.ts'
import { openAdministration } from '../platform/setup.ts'
import type { Behaviour } from '../providers/stub-openai.ts'
import type { Target } from '../router/requests.ts'
import { ownServer } from '../server.ts'
import { readFixture } from '../speech/fixtures.ts'
import { findTable, plainUsage, startProviders } from './providers.ts'
import { Examples, type Expected, receive, receiveOverQuota, type Sent } from './run.ts'

const providers = await startProviders()
t.teardown(() => providers.close())
const acme = await ownServer(t, providers.env)
const embedded = await ownServer(t, providers.withoutKeys)
const administration = await openAdministration(embedded)
t.teardown(() => administration.close())

const examples = new Examples('router.openapi.yaml')
const recording = readFixture('please-try-call-later')
/** A second with silence in mu-law. */
const silence = new Uint8Array(8000).fill(0xff)

/**
 * Each case sends a request to a server, sets the behaviour of the provider acme, and names the expected example in the
 * contract.
 */
const cases: readonly [server: typeof acme, sent: Sent, behaviour: Behaviour | null, expected: Expected | string][] = [
  [embedded, { operation: 'listModels' }, null, 'listModels 200: embedded'],
  [
    embedded,
    { operation: 'createTranscription', request: 'auto', audio: recording },
    null,
    'createTranscription 200: speech',
  ],
  [
    acme,
    { operation: 'createTranscription', request: 'options', audio: recording },
    null,
    { example: 'createTranscription 200: speakers', renamed: { 'nova-2': 'meeting-2' } },
  ],
  [
    embedded,
    { operation: 'createTranscription', request: 'raw', audio: silence },
    null,
    'createTranscription 200: silence',
  ],
  [embedded, { operation: 'createSpeech', request: 'auto' }, null, 'createSpeech 200: pcm'],
  [embedded, { operation: 'createSpeech', request: 'telephone' }, null, 'createSpeech 200: pcm'],
  [embedded, { operation: 'createResponse', request: 'text' }, null, 'createResponse 200: text'],
  [
    acme,
    { operation: 'createResponse', request: 'tools' },
    { ...findTable, arguments: '{"seats":4,"time":"19:00"}' },
    'createResponse 200: tool_call',
  ],
  [
    acme,
    { operation: 'createResponse', request: 'structured' },
    { kind: 'ok', text: '{"time":"19:00"}', usage: plainUsage },
    'createResponse 200: structured',
  ],
  [
    acme,
    { operation: 'createResponse', request: 'stream' },
    { ...findTable, text: 'One moment.', usage: plainUsage },
    'createResponse 200: completed',
  ],
  [acme, { operation: 'createResponse', request: 'stream' }, { kind: 'cut' }, 'createResponse 200: failed'],
]

for (const [server, sent, behaviour, expected] of cases) {
  const whole: Expected = typeof expected === 'string' ? { example: expected } : expected
  t.test(`a response matches the example ${whole.example}, for ${sent.request ?? 'no body'}`, async (t) => {
    if (behaviour) providers.acme.behave(behaviour)
    examples.compare(t, await examples.send(server, sent), whole)
  })
}

t.test("the response of getOpenapi begins like the contract's example", async (t) => {
  await examples.compareDocument(t, embedded, 'getOpenapi')
})

t.test("errors of the router API match the contract's examples", async (t) => {
  const speech = { operation: 'createSpeech', request: 'auto' }
  const transcription = { operation: 'createTranscription', request: 'auto', audio: recording }
  const noScope = await administration.organization('without a scope', { scopes: ['platform'] })
  const diarized = {
    options: { diarization: true },
    routing: { mode: 'auto', allow_providers: ['local'] },
  }
  const long = { input: [{ type: 'message', role: 'user', content: [{ type: 'text', text: 'x'.repeat(9_000_000) }] }] }
  // At 4000 Hz five hours take 72 MB, which is less than a recording's size limit, so only the length is refused.
  const samples = new Uint8Array(5 * 3600 * 4000)
  const header = wavHeader({ encoding: 'mulaw', sampleRateHz: 4000, channels: 1 }, samples.length)
  const fiveHours = Buffer.concat([header, samples])
  const faults: readonly [example: string, sent: Sent, target?: Target][] = [
    [
      'BadRequest: invalid_parameter',
      { ...speech, fields: { routing: { mode: 'explicit', model: 'local/flite', objective: 'cost' } } },
    ],
    ['BadRequest: invalid_request', { ...speech, body: '{"input":' }],
    ['BadRequest: capability_unsupported', { ...transcription, fields: { request: diarized } }],
    ['Unauthorized: authentication_failed', speech, { ...embedded, key: 'nobody' }],
    ['Forbidden: access_denied', speech, noScope],
    ['PayloadTooLarge: payload_too_large', { operation: 'createResponse', request: 'text', fields: long }],
    ['PayloadTooLarge: audio_too_long', { ...transcription, audio: fiveHours }],
    ['UnsupportedMedia: unsupported_media', { ...speech, headers: { 'content-type': 'text/html' } }],
    ['UnsupportedMedia: audio_format', { ...transcription, audio: Buffer.from('\0\0\0\x20ftypM4A mp42isom') }],
  ]
  for (const [example, sent, target = embedded] of faults)
    examples.compare(t, await examples.send(target, sent), { example })
  for (const [example, input] of [
    ['Conflict: request_already_started', 'Hello.'],
    ['Conflict: idempotency_conflict', 'Hello again.'],
  ] as const) {
    const headers = { 'idempotency-key': `key of ${example}` }
    await examples.send(embedded, { ...speech, fields: { input: 'Hello.' }, headers })
    examples.compare(t, await examples.send(embedded, { ...speech, fields: { input }, headers }), { example })
  }
  for (const [example, method, path] of [
    ['NotFound: not_found', 'GET', '/router/v2/models'],
    ['MethodNotAllowed: method_not_allowed', 'GET', '/router/v1/tts/speech'],
  ] as const)
    examples.compare(t, await receive(embedded, path, { method }), { example })
})

t.test("the error origin_not_allowed matches the contract's example", async (t) => {
  const headers = {
    authorization: `Bearer ${embedded.key}`,
    origin: 'https://page.example',
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    'sec-websocket-version': '13',
  }
  const [response] = (await once(get(`${embedded.url}/v1/transcribe/stream`, { headers }), 'response')) as [
    IncomingMessage,
  ]
  const head = new Headers(Object.entries(response.headers) as [string, string][])
  const received = { status: response.statusCode ?? 0, headers: head, body: await buffer(response) }
  examples.compare(t, received, { example: 'Forbidden: origin_not_allowed' })
})

t.test("errors in fault-answers.json have the messages and hints of the contract's examples", (t) => {
  type Recorded = { router: { body: { error: { code: string; message: string; hint: string } } } }
  const file = new URL('../router/fault-answers.json', import.meta.url)
  const recorded = (JSON.parse(readFileSync(file, 'utf8')) as Recorded[]).map(({ router }) => router.body.error)
  for (const address of [
    'PaymentRequired: insufficient_credit',
    'TooManyRequests: concurrency_exhausted',
    'TooManyRequests: provider_rate_limited',
    'TooManyRequests: request_in_progress',
    'BadGateway: provider_error',
    'ServiceUnavailable: provider_unavailable',
    'GatewayTimeout: request_timeout',
    'InternalError: relay_error',
  ])
    examples.compareWords(t, address, recorded)
  t.end()
})

t.test("the error rate_limited of the router API matches the contract's example", async (t) => {
  const refused = await receiveOverQuota(t, '/router/openapi.json')
  examples.compare(t, refused, { example: 'TooManyRequests: rate_limited' })
})

t.test('each example of the router API is compared with a response, or is listed with a reason', (t) => {
  examples.complete(t, {
    'ServiceUnavailable: service_unavailable': 'A server answers so while it stops: test/process/drain.test.ts.',
  })
  t.end()
})
