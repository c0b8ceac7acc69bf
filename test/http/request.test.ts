import { createHash } from 'node:crypto'
import t from 'tap'
import { type Context, type Input, Refusal } from '../../runtime/http/handler.ts'
import { jsonBody, ManualClock, mount, operation, raw, start, surface, until, validator } from './harness.ts'

const routing = {
  type: 'object',
  required: ['mode'],
  discriminator: { propertyName: 'mode' },
  oneOf: [
    {
      type: 'object',
      required: ['mode'],
      additionalProperties: false,
      properties: { mode: { const: 'auto' }, objective: { enum: ['balanced', 'cost'] } },
    },
    {
      type: 'object',
      required: ['mode', 'model'],
      additionalProperties: false,
      properties: { mode: { const: 'explicit' }, model: { type: 'string' } },
    },
  ],
}

const operations = [
  operation('echo', 'post', '/v1/echo', {
    body: jsonBody,
    headers: [{ name: 'Idempotency-Key', required: true, bytesMax: 8 }],
    validateParams: validator({
      type: 'object',
      properties: {
        header: {
          type: 'object',
          required: ['idempotency-key'],
          properties: { 'idempotency-key': { type: 'string', minLength: 1 } },
        },
      },
    }),
    validateBody: validator({
      type: 'object',
      additionalProperties: false,
      required: ['name'],
      properties: { name: { type: 'string', maxLength: 5 }, size: { type: 'integer', default: 3 }, routing },
    }),
  }),
  operation('list', 'get', '/v1/things', {
    query: [
      { name: 'limit', type: 'integer', array: false },
      { name: 'ratio', type: 'number', array: false },
      { name: 'deep', type: 'boolean', array: false },
      { name: 'tag', type: 'string', array: true },
    ],
    validateParams: validator({
      type: 'object',
      properties: { query: { type: 'object', properties: { limit: { type: 'integer', maximum: 100, default: 20 } } } },
    }),
  }),
  operation('read', 'get', '/v1/things/{id}'),
  operation('remove', 'delete', '/v1/things/{id}', {
    responses: { '204': { types: [], headers: [], validate: null } },
  }),
  operation('known', 'get', '/v1/things/known'),
  operation('nested', 'get', '/v1/things/{id}/parts/{part}'),
  operation('secret', 'get', '/v1/secret', { scope: 'router' }),
  operation('sealed', 'post', '/v1/sealed', { scope: 'router', body: jsonBody }),
  operation('old', 'get', '/v1/old', {
    deprecation: {
      deprecatedAt: '2026-05-16T00:00:00Z',
      sunset: '2026-08-14T00:00:00Z',
      link: 'https://example.com/new',
    },
    responses: {
      '200': { types: ['application/json'], headers: ['Service-Provider', 'X-Service-Note'], validate: null },
    },
  }),
  operation('fail', 'get', '/v1/fail'),
  operation('wrong', 'get', '/v1/wrong', {
    responses: { '200': { types: ['application/json'], headers: [], validate: validator({ type: 'string' }) } },
  }),
  operation('hang', 'get', '/v1/hang'),
  operation('page', 'get', '/v1/page', { responses: { '200': { types: ['text/html'], headers: [], validate: null } } }),
]

const answer = (input: Input) => ({ status: 200, body: input })
const hung: AbortSignal[] = []
const handlers = {
  echo: ({ body }: Input, { contentHash }: Context) => ({ status: 200, body: { body, contentHash } }),
  list: answer,
  read: answer,
  remove: () => Promise.resolve({ status: 204 }),
  known: () => ({ status: 200, body: 'known' }),
  nested: answer,
  secret: (_input: Input, { caller }: Context) => ({ status: 200, body: caller }),
  sealed: () => ({ status: 200, body: 'opened' }),
  old: () => ({
    status: 200,
    body: 1,
    headers: { 'Service-Provider': 'one\r\nX-Evil: 1', 'X-Service-Note': 'n', 'X-Undeclared': 'u' },
  }),
  fail: (input: Input) => {
    throw new Error(`boom ${JSON.stringify(input)}`)
  },
  wrong: () => ({ status: 200, body: 1 }),
  hang: (_input: Input, context: Context) => {
    hung.push(context.signal)
    return new Promise<never>((_resolve, reject) =>
      context.signal.addEventListener('abort', () => reject(new Error('aborted'))),
    )
  },
  page: () => ({ status: 200, body: '<p>é</p>' }),
}

const main = surface('main', ...operations)

async function get(url: string, init: RequestInit = {}) {
  const response = await fetch(url, init)
  const text = await response.text()
  const body =
    text === '' ? null : (response.headers.get('content-type') ?? '').includes('json') ? JSON.parse(text) : text
  return { status: response.status, headers: response.headers, body }
}

const post = (url: string, body: string, headers: Record<string, string> = {}) =>
  get(url, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', 'idempotency-key': 'k', ...headers },
  })

t.test('routing', async (t) => {
  const router = surface('router', operation('models', 'get', '/v1/things'))
  const own = surface('own', operation('models', 'get', '/v1/things'))
  const health = surface('health', operation('healthz', 'get', '/healthz'))
  const server = await start([
    mount(main, handlers),
    mount(router, { models: () => ({ status: 200, body: 'router' }) }, { basePath: '/router' }),
    mount(own, { models: () => ({ status: 200, body: 'own' }) }, { host: 'own.example' }),
    mount(health, { healthz: () => ({ status: 200, body: 'ok' }) }, { health: true, quota: false }),
  ])
  t.teardown(() => server.stop())

  t.match(await get(`${server.url}/v1/things/a%2Fb`), { status: 200, body: { path: { id: 'a/b' } } })
  t.match(await get(`${server.url}/v1/things/x/parts/y`), { body: { path: { id: 'x', part: 'y' } } })
  t.match(
    await get(`${server.url}/v1/things/known/parts/y`),
    { body: { path: { id: 'known', part: 'y' } } },
    'a dead end goes back',
  )
  t.match(await get(`${server.url}/v1/things/known`), { body: 'known' })
  t.match(await get(`${server.url}/router/v1/things`), { body: 'router' })
  t.match(await get(`${server.url}/v1/things/%zz`), { status: 400, body: { kind: 'invalid_parameter', param: 'id' } })

  for (const path of ['/v1/things/', '//v1/things', '/V1/things', '/v1/things//parts/y', '/', '/v1']) {
    t.match(await get(server.url + path), { status: 404, body: { kind: 'not_found', surface: 'main' } }, path)
  }
  t.match(
    await get(`${server.url}/router/nothing`),
    { status: 404, body: { surface: 'router' } },
    'each mount says so itself',
  )

  const shadowed = await get(`${server.url}/v1/things/known`, { method: 'DELETE' })
  t.match(
    shadowed,
    { status: 405, body: { kind: 'method_not_allowed' } },
    'a literal path does not fall through to a wider one',
  )
  t.equal(shadowed.headers.get('allow'), 'GET, HEAD, OPTIONS')
  const odd = await raw(server.port, 'BREW /v1/echo HTTP/1.1\r\nHost: a\r\n\r\n')
  t.match(odd.text, /^HTTP\/1.1 405 [\s\S]*Allow: POST, OPTIONS/)

  const removed = await get(`${server.url}/v1/things/1`, { method: 'DELETE' })
  t.match(removed, { status: 204, body: null })
  t.equal(removed.headers.get('content-length'), null)

  const atHost = async (host: string, path: string) => {
    const { text } = await raw(server.port, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
    return text
  }
  t.match(await atHost('Own.Example:8080', '/v1/things'), /"own"$/)
  t.match(await atHost('own.example', '/v1/secret'), /404[\s\S]*"surface":"own"/)
  t.match(await atHost('own.example', '/healthz'), /"ok"$/, 'health answers at every host')
})

t.test('HEAD and OPTIONS', async (t) => {
  const server = await start([mount(main, handlers, { corsOrigins: ['https://app.example'] })])
  t.teardown(() => server.stop())

  const { text } = await raw(
    server.port,
    'HEAD /v1/page HTTP/1.1\r\nHost: a\r\n\r\nGET /v1/page HTTP/1.1\r\nHost: a\r\n\r\n',
  )
  t.match(
    text,
    /^HTTP\/1.1 200 OK\r\n[\s\S]*Content-Length: 9\r\n[\s\S]*?\r\n\r\nHTTP\/1.1 200 OK[\s\S]*<p>é<\/p>$/,
    'no body, and the length of it',
  )
  t.equal(text.match(/Content-Length/g)?.length, 2)
  t.match(await get(`${server.url}/v1/nothing`, { method: 'HEAD' }), { status: 404, body: null })

  const options = await get(`${server.url}/v1/echo`, { method: 'OPTIONS' })
  t.match(options, { status: 204, body: null })
  t.equal(options.headers.get('allow'), 'POST, OPTIONS')
  t.equal(options.headers.get('access-control-allow-origin'), null)

  const preflight = await get(`${server.url}/v1/echo`, {
    method: 'OPTIONS',
    headers: { origin: 'https://app.example', 'access-control-request-method': 'POST' },
  })
  t.equal(preflight.headers.get('access-control-allow-origin'), 'https://app.example')
  t.equal(preflight.headers.get('access-control-allow-methods'), 'POST, OPTIONS')
  t.equal(preflight.headers.get('access-control-allow-headers'), 'Authorization, Content-Type, Idempotency-Key')

  const allowed = await get(`${server.url}/v1/fail`, { headers: { origin: 'https://app.example' } })
  t.equal(allowed.headers.get('access-control-allow-origin'), 'https://app.example', 'faults can be read too')
  const foreign = await get(`${server.url}/v1/page`, { headers: { origin: 'https://evil.example' } })
  t.equal(foreign.headers.get('access-control-allow-origin'), null)
  t.equal(foreign.headers.get('vary'), 'Origin')
})

t.test('query parameters are read strictly', async (t) => {
  const server = await start([mount(main, handlers)])
  t.teardown(() => server.stop())
  const list = (query: string) => get(`${server.url}/v1/things?${query}`)

  t.match(await list('limit=5&ratio=-0.5&deep=true&tag=a+b&tag=%26&unknown=%zz'), {
    body: { query: { limit: 5, ratio: -0.5, deep: true, tag: ['a b', '&'] } },
  })
  t.strictSame(
    (await list('tag=one')).body.query,
    { limit: 20, tag: ['one'] },
    'defaults are filled in, unknown names left out',
  )
  t.strictSame((await get(`${server.url}/v1/things`)).body.query, { limit: 20 })
  for (const [query, param] of [
    ['limit=0x10', 'limit'],
    ['limit=+7', 'limit'],
    ['limit=7.0', 'limit'],
    ['limit=1e1', 'limit'],
    ['limit=', 'limit'],
    ['limit', 'limit'],
    ['limit=007', 'limit'],
    ['limit=9007199254740993', 'limit'],
    ['limit=101', 'limit'],
    ['limit=1&limit=2', 'limit'],
    ['ratio=.5', 'ratio'],
    ['ratio=NaN', 'ratio'],
    ['deep=1', 'deep'],
    ['deep=TRUE', 'deep'],
    ['tag=%E0%A4', 'tag'],
  ]) {
    t.match(await list(query as string), { status: 400, body: { kind: 'invalid_parameter', param } }, query)
  }
})

t.test('JSON bodies', async (t) => {
  const server = await start([mount(main, handlers)])
  t.teardown(() => server.stop())
  const echo = `${server.url}/v1/echo`

  const good = await post(echo, '{"name":"ä"}')
  t.strictSame(good.body, {
    body: { name: 'ä', size: 3 },
    contentHash: createHash('sha256').update('{"name":"ä"}').digest('hex'),
  })
  t.equal(good.headers.get('cache-control'), 'no-store')

  const cases: [string, string][] = [
    ['{"size":1}', '/name'],
    ['{"name":"secret-content"}', '/name'],
    ['{"name":"a","size":"1"}', '/size'],
    ['{"name":"a","ot/h~er":1}', '/ot~1h~0er'],
    ['{"name":"a","routing":{}}', '/routing/mode'],
    ['{"name":"a","routing":{"mode":"secret-content"}}', '/routing/mode'],
    ['{"name":"a","routing":{"mode":"auto","model":"m"}}', '/routing/model'],
    ['{"name":"a","routing":{"mode":"auto","objective":"secret-content"}}', '/routing/objective'],
    ['{"name":"a","routing":null}', '/routing'],
    ['{"name":"a","__proto__":{"polluted":1}}', '/__proto__'],
    ['{"name":"a","\\u005f_proto__":{"polluted":1}}', '/__proto__'],
    ['[]', ''],
  ]
  for (const [body, param] of cases) {
    const refused = await post(echo, body)
    t.match(refused, { status: 400, body: { kind: 'invalid_parameter', param } }, body)
    t.notMatch(refused.body.message, 'secret-content')
  }
  t.equal(({} as Record<string, unknown>)['polluted'], undefined)

  for (const body of ['{"name":', 'nope', ''])
    t.match(await post(echo, body), { status: 400, body: { kind: 'malformed_body' } }, body)
  const invalid = `POST /v1/echo HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nIdempotency-Key: k\r\nContent-Length: 12\r\n\r\n`
  const text = (
    await raw(server.port, Buffer.concat([Buffer.from(`${invalid}{"name":"`), Buffer.from([0xff]), Buffer.from('"}')]))
  ).text
  t.match(text, /malformed_body/, 'bytes that are no UTF-8')
  t.match(await post(echo, '{}', { 'content-type': 'text/plain' }), {
    status: 415,
    body: { kind: 'unsupported_media' },
  })
  t.match(await post(echo, '{"name":"a"}', { 'content-type': 'Application/JSON; charset=utf-8' }), { status: 200 })
  t.match(await post(echo, `{"name":"${'x'.repeat(70_000)}"}`), { status: 413, body: { kind: 'payload_too_large' } })

  const chunked =
    'POST /v1/echo HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nIdempotency-Key: k\r\nTransfer-Encoding: chunked\r\n\r\n'
  const { text: whole } = await raw(server.port, `${chunked}8\r\n{"name":\r\n4\r\n"a"}\r\n0\r\n\r\n`)
  t.match(whole, /^HTTP\/1.1 200/)
  t.match((await raw(server.port, `${chunked}0\r\n\r\n`)).text, /malformed_body/)
})

t.test('header parameters', async (t) => {
  const server = await start([mount(main, handlers)])
  t.teardown(() => server.stop())
  const echo = `${server.url}/v1/echo`
  const send = (key: string) =>
    raw(
      server.port,
      `POST /v1/echo HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n${key}Content-Length: 12\r\n\r\n{"name":"a"}`,
    )

  t.match((await send('')).text, /400[\s\S]*"param":"Idempotency-Key","message":"Idempotency-Key is required"/)
  t.match((await send('Idempotency-Key: \r\n')).text, /400[\s\S]*"param":"Idempotency-Key"/)
  t.match((await send('Idempotency-Key: aäääb\r\n')).text, /^HTTP\/1.1 200/, '8 bytes')
  t.match(
    (await send('Idempotency-Key: aääääb\r\n')).text,
    /400[\s\S]*"param":"Idempotency-Key"/,
    '6 characters, but 10 bytes',
  )
  t.match(await post(echo, '{"name":"a"}', { 'idempotency-key': '123456789' }), { status: 400 })
})

t.test('authentication comes before everything that could tell about the operation', async (t) => {
  const server = await start([mount(main, handlers)], {
    authenticate: async (authorization, scope) => {
      await new Promise(setImmediate)
      if (authorization === '') throw new Refusal('unauthenticated')
      if (authorization !== 'Bearer good') throw new Refusal('forbidden')
      return { scope }
    },
  })
  t.teardown(() => server.stop())

  t.match(await get(`${server.url}/v1/secret`), { status: 401 })
  t.match(await get(`${server.url}/v1/secret`, { headers: { authorization: 'Bearer bad' } }), { status: 403 })
  t.match(await get(`${server.url}/v1/secret`, { headers: { authorization: 'Bearer good' } }), {
    status: 200,
    body: { scope: 'router' },
  })
  t.match(await post(`${server.url}/v1/sealed`, 'x', { 'content-type': 'text/plain' }), { status: 401 })
  t.match(await post(`${server.url}/v1/sealed`, '{}', { authorization: 'Bearer good' }), {
    status: 200,
    body: 'opened',
  })
  t.match(await post(`${server.url}/v1/sealed`, 'x'.repeat(60_000)), { status: 401 }, 'with a body on its way')
})

t.test('headers of answers', async (t) => {
  const server = await start([mount(main, handlers)], { headerPrefix: 'Acme' })
  t.teardown(() => server.stop())

  const { headers } = await get(`${server.url}/v1/old`)
  t.equal(headers.get('acme-request-id'), 'req_1')
  t.equal(headers.get('acme-region'), 'testland')
  t.equal(headers.get('acme-provider'), 'one  X-Evil: 1', 'a value cannot start a line of its own')
  t.equal(headers.get('x-acme-note'), 'n')
  t.equal(headers.get('x-undeclared'), null)
  t.equal(headers.get('x-evil'), null)
  t.equal(headers.get('deprecation'), '@1778889600')
  t.equal(headers.get('sunset'), 'Fri, 14 Aug 2026 00:00:00 GMT')
  t.equal(headers.get('link'), '<https://example.com/new>; rel="deprecation"; type="text/html"')
  t.equal(headers.get('ratelimit-policy'), null, 'no quota, no header')
  t.equal(headers.get('uwebsockets'), null)
  const missing = await get(`${server.url}/v1/nothing`)
  t.match(missing.headers.get('acme-request-id'), missing.body.requestId)
  t.equal(missing.headers.get('acme-region'), 'testland')
})

t.test('handlers that fail', async (t) => {
  const server = await start([mount(main, handlers)])
  t.teardown(() => server.stop())

  const failed = await get(`${server.url}/v1/fail`)
  t.match(failed, { status: 500, body: { kind: 'internal' } })
  t.match(server.errors, [/boom/])
  t.match(await get(`${server.url}/v1/wrong`), { status: 500 }, 'an answer that the contract does not know')
  t.match(server.errors[1], /wrong 200 is not what the contract says/)

  const left = new AbortController()
  const hanging = fetch(`${server.url}/v1/hang`, { signal: left.signal }).catch((error: Error) => error.name)
  await until(() => hung.length === 1)
  left.abort()
  t.equal(await hanging, 'AbortError')
  await until(() => server.inflight() === 0)
  t.ok(hung[0]?.aborted, 'the handler hears that the client has left')
  t.match(await get(`${server.url}/v1/page`), { status: 200 }, 'the server lives')
  t.strictSame(server.ended, [
    { operation: 'fail', status: 500 },
    { operation: 'wrong', status: 500 },
    { operation: 'hang', status: 499 },
    { operation: 'page', status: 200 },
  ])
  t.match(server.errors, { length: 2 }, 'a client that leaves is no error')
})

t.test('a fault writer that fails still leaves an answer', async (t) => {
  const writeFault = () => {
    throw new Error('worse')
  }
  const server = await start([mount(main, handlers, { writeFault })])
  t.teardown(() => server.stop())
  t.match(await get(`${server.url}/v1/fail`), { status: 500, body: {} })
})

t.test('edge quota', async (t) => {
  const clock = new ManualClock()
  const edgeQuota = { requests: 2, windowS: 300, trustedProxies: ['127.0.0.0/8', '10.0.0.0/8'], addressesMax: 3 }
  const health = surface('health', operation('healthz', 'get', '/healthz'))
  const server = await start(
    [
      mount(main, handlers),
      mount(health, { healthz: () => ({ status: 200, body: 'ok' }) }, { health: true, quota: false }),
    ],
    { clock, edgeQuota },
  )
  t.teardown(() => server.stop())
  const from = (forwarded: string, path = '/v1/page') =>
    get(server.url + path, forwarded === '' ? {} : { headers: { 'x-forwarded-for': forwarded } })
  clock.advance(300_000 - (clock.monotonicMs() % 300_000) + 100_000)

  const first = await from('')
  t.equal(first.headers.get('ratelimit-policy'), '"relay-ip";q=2;w=300')
  t.equal(first.headers.get('ratelimit'), '"relay-ip";r=1;t=200')
  t.match(await from('', '/v1/nothing'), { status: 404 }, 'loopback and unknown paths count')
  const over = await from('')
  t.match(over, { status: 429, body: { kind: 'rate_limited' } })
  t.equal(over.headers.get('retry-after'), '200')
  t.equal(over.headers.get('ratelimit'), '"relay-ip";r=0;t=200')
  t.match(await from('', '/healthz'), { status: 200 }, 'health is not counted')
  t.equal((await from('', '/healthz')).headers.get('ratelimit'), null)

  for (const address of ['2001:db8:1:2::1', '2001:db8:1:2:ffff::2'])
    t.match(await from(address), { status: 200 }, address)
  t.match(await from('2001:db8:1:2::3'), { status: 429 }, 'one /64 is one source')
  t.match(await from('2001:db8:1:3::3'), { status: 200 })
  t.match(await from('192.0.2.9, 198.51.100.1, 10.1.1.1'), { status: 200 }, 'the nearest that is no proxy of ours')
  t.match(await from('198.51.100.1:443'), { status: 200 })
  t.match(await from('203.0.113.5, 198.51.100.1'), { status: 429 }, 'what stands left of it is not believed')
  t.match(await from(''), { status: 200 }, 'the oldest of too many addresses was forgotten')

  clock.advance(200_000)
  t.equal((await from('198.51.100.1')).headers.get('ratelimit'), '"relay-ip";r=1;t=300', 'a new window')
})

t.test('too much at once', async (t) => {
  const server = await start([mount(main, handlers)], { limits: { requestsMax: 2, connectionsPerIpMax: 1 } })
  t.teardown(() => server.stop())
  const before = hung.length
  const left = new AbortController()
  const hang = () => fetch(`${server.url}/v1/hang`, { signal: left.signal }).catch(() => {})
  const first = hang()
  await until(() => hung.length === before + 1)
  const second = await get(`${server.url}/v1/page`)
  t.match(second, { status: 429, body: { kind: 'rate_limited' } }, 'one connection an address')
  t.equal(second.headers.get('retry-after'), '1')
  left.abort()
  await first
  await until(() => server.inflight() === 0)
  t.match(await get(`${server.url}/v1/page`), { status: 200 })

  const crowded = await start([mount(main, handlers)], { limits: { requestsMax: 1 } })
  t.teardown(() => crowded.stop())
  const waiting = fetch(`${crowded.url}/v1/hang`).catch(() => {})
  await until(() => crowded.inflight() === 1)
  t.match(await get(`${crowded.url}/v1/page`), { status: 503, body: { kind: 'overloaded' } })
  await crowded.stop()
  await waiting
})

t.test('tracing', async (t) => {
  const spans: unknown[] = []
  const tracing = {
    start: (...started: string[]) => {
      spans.push(started)
      return (status: number) => spans.push(status)
    },
  }
  const server = await start([mount(main, handlers)], { tracing })
  t.teardown(() => server.stop())
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  await get(`${server.url}/v1/things/7`, { headers: { traceparent } })
  t.strictSame(spans, [['read', 'get', '/v1/things/{id}', traceparent], 200])
})

t.test('what cannot be served is said at the start', async (t) => {
  await t.rejects(start([mount(main, {})]), /no handler for echo/)
  await t.rejects(start([mount(main, handlers), mount(main, handlers)]), /two surfaces serve/)
})
