import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'
import { parse } from 'yaml'
import { parseJson } from '../../runtime/engine/json.ts'
import { patternsInWords, refuseBody } from '../../runtime/engine/violation.ts'
import { overEngines } from '../engine/engines.ts'
import { mount, operation, raw, start, surface, validator } from './harness.ts'
import { get, handlers, main, post } from './surface.ts'

overEngines(t, (t, engine) => {
  t.test('a request is routed by host, base path, path and method', async (t) => {
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
      'a dead end goes back to the parameter',
    )
    t.match(await get(`${server.url}/v1/things/known`), { body: 'known' })
    t.match(await get(`${server.url}/router/v1/things`), { body: 'router' })
    for (const id of ['%zz', '%00'])
      t.match(await get(`${server.url}/v1/things/${id}`), { status: 200, body: { path: { id } } }, 'an id of nothing')

    for (const path of ['/v1/things/', '//v1/things', '/V1/things', '/v1/things//parts/y', '/', '/v1']) {
      t.match(await get(server.url + path), { status: 404, body: { kind: 'not_found', surface: 'main' } }, path)
    }
    const near: Record<string, RegExp> = {
      '/things/known': /^There is nothing at .things.known\. Did you mean \/v1\/things\/known\?$/,
      '/v1/v1/things/known': /Did you mean \/v1\/things\/known\?$/,
      '/V1/Things/known/': /Did you mean \/v1\/things\/known\?$/,
      '/things': /Did you mean \/v1\/things\?$/,
      '/api/router/v1/things': /Did you mean \/router\/v1\/things\?$/,
      '/things/Some-Id/parts/y': /Did you mean \/v1\/things\/Some-Id\/parts\/y\?$/,
      '/healthy': /^There is nothing at \/healthy\.$/,
      '/x/healthz': /^There is nothing at \/x\/healthz\.$/,
      '/%22quoted%22': /^There is nothing at this path\.$/,
    }
    for (const [path, message] of Object.entries(near))
      t.match(await get(server.url + path), { status: 404, body: { message } }, path)
    t.match(
      await get(`${server.url}/router/nothing`),
      { status: 404, body: { surface: 'router' } },
      'each mount answers for its unknown paths',
    )

    const shadowed = await get(`${server.url}/v1/things/known`, { method: 'DELETE' })
    t.match(
      shadowed,
      { status: 405, body: { kind: 'method_not_allowed' } },
      'a literal path does not fall through to a wider one',
    )
    t.equal(shadowed.headers.get('allow'), 'GET, HEAD, OPTIONS')
    const odd = await raw(server.port, 'PROPFIND /v1/echo HTTP/1.1\r\nHost: a\r\n\r\n')
    t.match(odd.text, /^HTTP\/1.1 405 [\s\S]*Allow: POST, OPTIONS/)
    const unheardOf = await raw(server.port, 'BREW /v1/echo HTTP/1.1\r\nHost: a\r\n\r\n')
    t.match(
      unheardOf.text,
      engine === 'uws' ? /^HTTP\/1.1 405 / : /^HTTP\/1.1 400 /,
      'node:http knows a list of methods',
    )

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

  t.test('HEAD and OPTIONS are answered for each path', async (t) => {
    const server = await start([mount(main, handlers, { corsOrigins: ['https://app.example'] })])
    t.teardown(() => server.stop())

    const { text } = await raw(
      server.port,
      'HEAD /v1/page HTTP/1.1\r\nHost: a\r\n\r\nGET /v1/page HTTP/1.1\r\nHost: a\r\n\r\n',
    )
    t.match(
      text,
      /^HTTP\/1.1 200 OK\r\n[\s\S]*Content-Length: 9\r\n[\s\S]*?\r\n\r\nHTTP\/1.1 200 OK[\s\S]*<p>é<\/p>$/,
      'no body, but its length',
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
    t.equal(preflight.headers.get('access-control-allow-headers'), 'Authorization, Content-Type, Idempotency-Key, *')

    const allowed = await get(`${server.url}/v1/fail`, { headers: { origin: 'https://app.example' } })
    t.equal(allowed.headers.get('access-control-allow-origin'), 'https://app.example', 'faults can be read too')
    const foreign = await get(`${server.url}/v1/page`, { headers: { origin: 'https://evil.example' } })
    t.equal(foreign.headers.get('access-control-allow-origin'), null)
    t.equal(foreign.headers.get('vary'), 'Origin')
  })

  t.test('query parameters are parsed strictly: malformed values are refused, unknown names left out', async (t) => {
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
      t.match(await list(query as string), { status: 400, body: { kind: 'invalid_parameter', param } }, query as string)
    }
  })

  t.test('a JSON body is validated against the contract', async (t) => {
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
      ['{"name":"a","metadata":{"a/b":[{"__proto__":{"polluted":1}}]}}', '/metadata/a~1b/0/__proto__'],
    ]
    for (const [body, param] of cases) {
      const refused = await post(echo, body)
      t.match(refused, { status: 400, body: { kind: 'invalid_parameter', param } }, body)
      t.notMatch(refused.body.message, 'secret-content')
    }
    t.equal(({} as Record<string, unknown>)['polluted'], undefined)
    for (const body of ['[]', 'null', '"text"', '5']) {
      const refused = await post(echo, body)
      t.match(refused, { status: 400, body: { kind: 'invalid_parameter', message: 'the body must be a JSON object' } })
      t.notOk('param' in refused.body, 'there is no field to name')
    }

    for (const body of ['{"name":', 'nope', ''])
      t.match(await post(echo, body), { status: 400, body: { kind: 'malformed_body' } }, body)
    const invalid = `POST /v1/echo HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nIdempotency-Key: k\r\nContent-Length: 12\r\n\r\n`
    const text = (
      await raw(
        server.port,
        Buffer.concat([Buffer.from(`${invalid}{"name":"`), Buffer.from([0xff]), Buffer.from('"}')]),
      )
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

  t.test('JSON that would take long to handle is refused', (t) => {
    const nested = (levels: number, [open, close]: readonly [string, string]) =>
      open.repeat(levels) + close.repeat(levels)
    const object = ['{"a":[', ']}'] as const
    t.same(parseJson(`"${'['.repeat(1000)}"`), '['.repeat(1000), 'brackets in a string')
    t.same(parseJson(`"${'\\\\'.repeat(500)}\\"[[["`), `${'\\'.repeat(500)}"[[[`, 'behind an escaped quote')
    t.ok(parseJson(nested(64, ['[', ']'])))
    t.ok(parseJson(nested(32, object)))
    t.ok(parseJson(`[${'0,'.repeat(40_000)}0]`))
    for (const [text, message] of [
      [nested(65, ['[', ']']), 'the JSON has more than 64 levels'],
      [nested(33, object), 'the JSON has more than 64 levels'],
      [`{"text":"${'\\"'.repeat(600)}","more":${nested(64, ['[', ']'])}}`, 'the JSON has more than 64 levels'],
      [`{"text":"${'x'.repeat(600)}","more":${nested(64, ['[', ']'])}}`, 'the JSON has more than 64 levels'],
      ['['.repeat(4_000_000), 'the JSON has more than 64 levels'],
      [`[${'0,'.repeat(60_000)}0]`, 'the JSON has more than 50000 values'],
      [`[${'{},'.repeat(30_000)}0]`, 'the JSON has more than 50000 values'],
      [`"${'x'.repeat(1000)}`, 'the body is not valid JSON'],
    ] as const) {
      t.throws(() => parseJson(text), { message }, text.slice(0, 20))
    }
    t.end()
  })

  t.test('the message for a wrong type names all allowed types', (t) => {
    const validate = validator({ type: 'object', properties: { stream: { type: ['boolean', 'null'] } } })
    t.notOk(validate({ stream: 'yes' }))
    t.match(refuseBody(validate.errors), { message: '/stream must be boolean or null', detail: { param: '/stream' } })
    t.end()
  })

  t.test('header parameters are validated against the contract', async (t) => {
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

  t.test('the message for a union names the variant that the client meant', (t) => {
    const mode = { type: 'string', enum: ['auto', 'none'] }
    const named = {
      type: 'object',
      required: ['name'],
      additionalProperties: false,
      properties: { name: { type: 'string' } },
    }
    const properties = { choice: { oneOf: [mode, named] }, text: { oneOf: [{ type: 'string' }, named] } }
    const validate = validator({ type: 'object', properties })
    for (const [choice, param, message] of [
      [{}, '/choice/name', 'is required'],
      [{ name: 'a', more: 1 }, '/choice/more', 'is not a known field'],
      [{ name: 1 }, '/choice/name', 'must be string'],
      ['other', '/choice', 'must be one of auto, none'],
      [5, '/choice', 'must be one of auto, none'],
    ] as const) {
      t.notOk(validate({ choice }))
      t.match(refuseBody(validate.errors), { detail: { param }, message: `${param} ${message}` })
    }
    t.notOk(validate({ text: 5 }))
    t.match(refuseBody(validate.errors), { message: '/text must be string or object' })
    t.end()
  })

  t.test('an error in an `else` branch of a schema is reported at the fields of the branch', (t) => {
    const whole = { type: 'object', required: ['name'], properties: { name: { type: 'string' } } }
    const validate = validator(
      {
        ...{
          type: 'object',
          required: ['accepted'],
          properties: { accepted: { const: true }, short: whole, long: whole },
        },
        ...{ if: { required: ['short'] }, else: { required: ['long', 'person'] } },
      },
      { allErrors: true },
    )
    for (const [body, paths] of [
      [{}, ['/long', '/person', '/accepted']],
      [{ accepted: true, long: {} }, ['/person', '/long/name']],
      [{ accepted: true, short: {} }, ['/short/name']],
    ] as const) {
      t.notOk(validate(body))
      t.same(
        refuseBody(validate.errors).detail.issues?.map(({ path }) => path),
        paths,
      )
    }
    t.ok(validate({ accepted: true, short: { name: 'x' } }))
    t.end()
  })

  t.test('each regular expression that has a readable error message is used in a contract', (t) => {
    const files = readdirSync('specs', { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.yaml'))
    const known = new Set(files.flatMap((file) => patternsIn(parse(readFileSync(`specs/${file}`, 'utf8')))))
    for (const pattern of patternsInWords.keys()) t.ok(known.has(pattern), pattern)
    t.end()
  })

  function patternsIn(value: unknown): string[] {
    if (typeof value !== 'object' || value === null) return []
    const own = 'pattern' in value && typeof value.pattern === 'string' ? [value.pattern] : []
    return [...own, ...Object.values(value).flatMap(patternsIn)]
  }

  t.test('a JSON header is parsed and validated', async (t) => {
    const server = await start([mount(main, handlers)])
    t.teardown(() => server.stop())
    // fetch sends each character of a header as one byte.
    const send = (shape: string) => get(`${server.url}/v1/shaped`, { headers: { 'x-service-shape': shape } })
    const given = async (shape: string) => ((await send(shape)).body as unknown as { header: object }).header
    const shape = (fields: object) => ({ 'x-service-shape': fields })
    t.same(
      await given('{"name":"ball","more":1}'),
      shape({ name: 'ball', more: 1, filled: true }),
      'as the schema says',
    )
    const utf8 = Buffer.from('{"name":"Bälle"}').toString('latin1')
    t.same(await given(utf8), shape({ name: 'Bälle', filled: true }), 'JSON is UTF-8')
    t.same(
      await given('{"name":"Bälle"}'),
      shape({ name: 'Bälle', filled: true }),
      'bytes that are not UTF-8 are Latin-1, as fetch sends them',
    )
    t.same((await get(`${server.url}/v1/shaped`)).body, { path: {}, query: {}, header: {} })

    const param = 'X-Service-Shape'
    for (const [sent, message] of [
      ['{"name"', `${param} is not valid JSON`],
      ['', `${param} is not valid JSON`],
      ['{"name":"a","__proto__":1}', `${param} is not valid JSON`],
      ['[]', `${param} must be object`],
      ['{}', `/name of ${param} is required`],
      ['{"name":"a","sizes":[1,"2"]}', `/sizes/1 of ${param} must be integer`],
      ['{"name":"a long name"}', `/name of ${param} must NOT have more than 5 characters`],
      [`{"name":"${'a'.repeat(64)}"}`, `${param} is longer than 64 bytes`],
    ] as const) {
      t.match(await send(sent), { status: 400, body: { kind: 'invalid_parameter', param, message } }, sent)
    }
  })
})
