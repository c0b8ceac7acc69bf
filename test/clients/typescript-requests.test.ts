/**
 * The TypeScript client repeats requests, limits their time and sets their headers as its README says. A function
 * answers in place of fetch.
 */
import t from 'tap'
import type { ClientOptions } from '../../generated/clients/typescript/call.ts'
import { createCompatClient } from '../../generated/clients/typescript/compat.ts'
import { createPlatformClient } from '../../generated/clients/typescript/platform.ts'
import {
  ConnectionError,
  createRouterClient,
  RequestTimeoutError,
  RouterApiError,
} from '../../generated/clients/typescript/router.ts'

type Asked = { url: string; headers: Headers; body: unknown }
type Reply = Response | Error

const json = { 'content-type': 'application/json' }
const ok = () => new Response('{"models":[]}', { headers: json })
const speech = { body: { input: 'Hello.' } }

/** Answers requests with the replies in order, and with success after the last reply. */
function answering(...replies: Reply[]): { asked: Asked[]; options: ClientOptions } {
  const asked: Asked[] = []
  const fetch = (url: string | URL | Request, init: RequestInit = {}) => {
    asked.push({
      url: url instanceof Request ? url.url : String(url),
      headers: new Headers(init.headers),
      body: init.body,
    })
    const reply = replies.shift() ?? ok()
    return reply instanceof Error ? Promise.reject(reply) : Promise.resolve(reply)
  }
  return { asked, options: { baseUrl: 'http://parley.test', apiKey: 'key', fetch } }
}

function refused(retryable: boolean, retryAfter = '0'): Response {
  const error = { code: 'rate_limited', message: 'Too many.', hint: 'Wait.', retryable, request_id: 'req_1', type: 'x' }
  return new Response(JSON.stringify({ error }), { status: 429, headers: { ...json, 'retry-after': retryAfter } })
}

const keysOf = (asked: readonly Asked[]) => asked.map(({ headers }) => headers.get('idempotency-key'))
/** An error as Node's fetch throws it. */
const failed = (fields: { code: string; syscall?: string }) =>
  new TypeError('fetch failed', { cause: Object.assign(new Error(), fields) })
/** An error as Node's fetch throws it if a host has two IP addresses. */
const failedTwice = (...causes: TypeError[]) =>
  new TypeError('fetch failed', { cause: new AggregateError(causes.map(({ cause }) => cause)) })

t.test('a request with a retryable error is repeated twice by default, with new idempotency keys', async (t) => {
  const { asked, options } = answering(refused(true), refused(true), refused(true))
  await t.rejects(createRouterClient(options).createSpeech(speech), { code: 'rate_limited', requestId: 'req_1' })
  t.equal(asked.length, 3)
  t.equal(new Set(keysOf(asked)).size, 3)
})

t.test('a request that did not reach the server is repeated, and a lost connection is not', async (t) => {
  const unreached = failed({ code: 'EHOSTUNREACH', syscall: 'connect' })
  const refused = failed({ code: 'ECONNREFUSED', syscall: 'connect' })
  const lost = failed({ code: 'EHOSTUNREACH', syscall: 'read' })
  const codes = ['ENOTFOUND', 'UND_ERR_CONNECT_TIMEOUT', 'CERT_HAS_EXPIRED', 'DEPTH_ZERO_SELF_SIGNED_CERT']
  for (const error of [unreached, refused, failedTwice(unreached, refused), ...codes.map((code) => failed({ code }))]) {
    const { asked, options } = answering(error)
    await createRouterClient(options).listModels()
    t.equal(asked.length, 2)
  }
  const others = ['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENETUNREACH', 'UND_ERR_SOCKET'].map((code) => failed({ code }))
  for (const error of [lost, failedTwice(unreached, lost), ...others, new TypeError('Failed to fetch')]) {
    const { asked, options } = answering(error)
    const thrown: unknown = await createRouterClient(options)
      .listModels()
      .catch((thrown: unknown) => thrown)
    t.ok(thrown instanceof ConnectionError && thrown.wasSent)
    t.equal(asked.length, 1)
  }
})

t.test("a time-out of Node's fetch is a RequestTimeoutError", async (t) => {
  for (const code of ['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']) {
    const { asked, options } = answering(failed({ code }))
    await t.rejects(createRouterClient(options).listModels(), { name: 'RequestTimeoutError' })
    t.equal(asked.length, 1)
  }
})

t.test('a redirect that a browser hides is an error with the status 0', async (t) => {
  const hidden = Object.defineProperties(new Response(null), { ok: { value: false }, status: { value: 0 } })
  const { options } = answering(hidden)
  await t.rejects(createRouterClient(options).listModels(), { name: 'RouterApiError', status: 0, code: null })
})

t.test('a request is sent once if it sets Idempotency-Key, its error is final, or the pause is too long', async (t) => {
  const withKey = answering(refused(true))
  const call = { ...speech, idempotencyKey: 'mine' }
  await t.rejects(createRouterClient(withKey.options).createSpeech(call), { code: 'rate_limited' })
  t.same(keysOf(withKey.asked), ['mine'])
  const attempts = [
    { reply: refused(false), options: {} },
    { reply: refused(true, '61'), options: {} },
    { reply: refused(true), options: { retriesMax: 0 } },
    { reply: new Response('<h1>Bad gateway</h1>', { status: 502 }), options: {} },
  ]
  for (const { reply, options: more } of attempts) {
    const { asked, options } = answering(reply)
    const error: unknown = await createRouterClient({ ...options, ...more })
      .listModels()
      .catch((thrown: unknown) => thrown)
    t.ok(error instanceof RouterApiError)
    t.equal(asked.length, 1)
  }
})

t.test("a platform request is repeated if the contract's error table marks its error as retryable", async (t) => {
  const fault = (code: string) =>
    new Response(JSON.stringify({ error: 'No.', code, requestId: 'req_1' }), { status: 503 })
  const retryable = answering(fault('SERVICE_UNAVAILABLE'))
  await createPlatformClient(retryable.options).listAgents()
  t.equal(retryable.asked.length, 2)
  const final = answering(fault('FORBIDDEN'))
  await t.rejects(createPlatformClient(final.options).listAgents(), { code: 'FORBIDDEN', retryable: false })
  t.equal(final.asked.length, 1)
})

t.test('a request ends with RequestTimeoutError after its time limit', async (t) => {
  let count = 0
  const fetch = (_url: unknown, { signal }: RequestInit = {}) =>
    new Promise<Response>((_resolve, reject) => {
      count++
      signal?.addEventListener('abort', () => reject(signal.reason as Error))
    })
  const client = createRouterClient({ baseUrl: 'http://parley.test', fetch, timeoutMs: 5 })
  await t.rejects(client.listModels(), new RequestTimeoutError(5))
  await t.rejects(client.listModels({ timeoutMs: 6 }), new RequestTimeoutError(6))
  t.equal(count, 2, 'a late request is not repeated')
})

t.test("a cancelled pause between attempts ends with the signal's reason", async (t) => {
  const { asked, options } = answering(refused(true, '30'))
  const cancel = new AbortController()
  const answer = createRouterClient(options).listModels({ signal: cancel.signal })
  setImmediate(() => cancel.abort(new Error('no longer needed')))
  await t.rejects(answer, { message: 'no longer needed' })
  t.equal(asked.length, 1)
})

const streamed = (text: string) => new Response(text, { headers: { 'content-type': 'text/event-stream' } })
const opened = 'event: open\nid: 1:1\ndata: {"cursor":"1:1","test":false}\n\n'
const ended = 'event: end\nid: 1:2\ndata: {"reason":"timeout"}\n\n'

t.test('an event stream that is cut goes on after its last event if the contract has Last-Event-ID', async (t) => {
  const { asked, options } = answering(streamed(opened), streamed(ended))
  const { body } = await createPlatformClient(options).streamWebhookEvents({ query: { cursor: '0:0' } })
  const events: string[] = []
  for await (const { event } of body) events.push(event)
  t.same(events, ['open', 'end'])
  t.same(
    asked.map(({ headers }) => headers.get('last-event-id')),
    [null, '1:1'],
  )
  t.notMatch(asked[1]?.url, /cursor/, 'a cursor would win over the header')
})

t.test('an event stream that is cut before its first event is not opened again', async (t) => {
  const { asked, options } = answering(streamed(''))
  const { body } = await createPlatformClient(options).streamWebhookEvents()
  await t.rejects(body[Symbol.asyncIterator]().next(), { name: 'StreamTruncatedError' })
  t.equal(asked.length, 1)
})

t.test(
  'header parameters have the prefix of the server, objects in them are JSON, and a User-Agent is sent',
  async (t) => {
    const { asked, options } = answering()
    const client = createCompatClient({ ...options, headerPrefix: 'Voice', userAgent: 'my-bot/2' })
    const header = { 'x-service-intent': { language: 'en' }, 'x-session-id': 'call 7' }
    await client.transcribe({ body: new Uint8Array(2), header })
    t.equal(asked[0]?.headers.get('x-voice-intent'), '{"language":"en"}')
    t.equal(asked[0]?.headers.get('x-session-id'), 'call 7')
    t.equal(asked[0]?.headers.get('user-agent'), 'my-bot/2')
    const usual = answering()
    await createRouterClient(usual.options).listModels()
    t.match(usual.asked[0]?.headers.get('user-agent'), /^parley-typescript\/\d/)
  },
)

t.test('a part of the path that would lead to another operation is refused', async (t) => {
  const fetch = () => Promise.reject(new Error('a request was sent'))
  const client = createPlatformClient({ baseUrl: 'http://parley.test', fetch })
  for (const id of ['', '.', '..']) await t.rejects(client.getAgent({ path: { id } }), TypeError)
})
