import diagnostics from 'node:diagnostics_channel'
import type { Server as NodeServer } from 'node:http'
import t from 'tap'
import { Refusal } from '../../runtime/engine/handler.ts'
import type { Trace } from '../../runtime/engine/trace-context.ts'
import { TestClock } from '../clock.ts'
import { overEngines } from '../engine/engines.ts'
import { mount, operation, start, surface, until } from './harness.ts'
import { get, handlers, hung, main, post } from './surface.ts'

overEngines(t, (t, engine) => {
  t.test('authentication comes before every check that could reveal whether an operation exists', async (t) => {
    const server = await start([mount(main, handlers)], {
      authenticate: async ({ authorization }, { scope }) => {
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

  t.test('an answer has only declared headers, with the configured prefix', async (t) => {
    const server = await start([mount(main, handlers)], { headerPrefix: 'Acme' })
    t.teardown(() => server.stop())

    const { headers } = await get(`${server.url}/v1/old`)
    t.equal(headers.get('acme-request-id'), 'req_1')
    t.equal(headers.get('x-request-id'), 'req_1', 'under the name that client libraries read')
    t.equal(headers.get('acme-region'), 'testland')
    t.equal(headers.get('acme-provider'), 'one  X-Evil: 1', 'a value cannot start a line of its own')
    const note = Buffer.from(headers.get('x-acme-note') ?? '', 'latin1').toString()
    t.equal(note, 'a b c\tdé☎', 'other control characters are none of a value')
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

  t.test('if a handler fails, the answer is 500 without its message', async (t) => {
    const server = await start([mount(main, handlers)])
    t.teardown(() => server.stop())

    const failed = await get(`${server.url}/v1/fail`)
    t.match(failed, { status: 500, body: { kind: 'internal' } })
    t.match(server.errors, [/boom/])
    t.match(await get(`${server.url}/v1/wrong`), { status: 500 }, 'an answer that the contract does not know')
    t.match(server.errors[1], /wrong 200 is not what the contract says/)

    const left = new AbortController()
    const before = hung.length
    const hanging = fetch(`${server.url}/v1/hang`, { signal: left.signal }).catch((error: Error) => error.name)
    await until(() => hung.length === before + 1)
    left.abort()
    t.equal(await hanging, 'AbortError')
    await until(() => server.inflight() === 0)
    t.ok(hung.at(-1)?.aborted, 'the handler hears that the client has left')
    t.match(await get(`${server.url}/v1/page`), { status: 200 }, 'the server lives')
    t.strictSame(server.ended, [
      { operation: 'fail', status: 500 },
      { operation: 'wrong', status: 500 },
      { operation: 'hang', status: 499 },
      { operation: 'page', status: 200 },
    ])
    t.match(server.errors, { length: 2 }, 'a client that leaves is no error')
  })

  t.test('if the writer of an error answer fails, the client still gets an answer', async (t) => {
    const writeFault = () => {
      throw new Error('worse')
    }
    const server = await start([mount(main, handlers, { writeFault })])
    t.teardown(() => server.stop())
    t.match(await get(`${server.url}/v1/fail`), { status: 500, body: {} })
  })

  t.test('the edge quota limits the requests of a client address', async (t) => {
    const clock = new TestClock()
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
    clock.pass(300_000 - (clock.nowMs() % 300_000) + 100_000)

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

    clock.pass(200_000)
    t.equal((await from('198.51.100.1')).headers.get('ratelimit'), '"relay-ip";r=1;t=300', 'a new window')
  })

  t.test('the edge quota of a client address is divided among the server instances', async (t) => {
    let instances = 1
    const edgeQuota = { requests: 5, windowS: 300, trustedProxies: [], addressesMax: 3, instances: () => instances }
    const server = await start([mount(main, handlers)], { clock: new TestClock(), edgeQuota })
    t.teardown(() => server.stop())
    const quotas = async () => {
      const { headers } = await get(`${server.url}/v1/page`)
      return [headers.get('ratelimit-policy'), headers.get('ratelimit')?.split(';')[1]]
    }
    t.same(await quotas(), ['"relay-ip";q=5;w=300', 'r=4'])
    instances = 2
    t.same(await quotas(), ['"relay-ip";q=3;w=300', 'r=1'], 'rounded up, and used already counts')
    t.same(await quotas(), ['"relay-ip";q=3;w=300', 'r=0'])
    t.match(await get(`${server.url}/v1/page`), { status: 429 })
    instances = 1
    t.same(await quotas(), ['"relay-ip";q=5;w=300', 'r=0'], 'the whole quota again')
  })

  t.test('an unconfigured proxy is reported once, because its clients share one quota', async (t) => {
    const unnamed: string[] = []
    const onUnnamedProxy = (address: string) => void unnamed.push(address)
    const edgeQuota = { requests: 5, windowS: 300, trustedProxies: [] as string[], addressesMax: 10, onUnnamedProxy }
    const server = await start([mount(main, handlers)], { edgeQuota })
    t.teardown(() => server.stop())
    await get(`${server.url}/v1/page`)
    t.same(unnamed, [], 'a client without a proxy')
    const headers = { 'x-forwarded-for': '203.0.113.7' }
    for (let i = 0; i < 2; i++) await get(`${server.url}/v1/page`, { headers })
    t.same(unnamed, ['127.0.0.1'])
    const named = await start([mount(main, handlers)], { edgeQuota: { ...edgeQuota, trustedProxies: ['127.0.0.1'] } })
    t.teardown(() => named.stop())
    await get(`${named.url}/v1/page`, { headers })
    t.equal(unnamed.length, 1)
  })

  t.test('requests over the limit requestsMax are refused', async (t) => {
    const server = await start([mount(main, handlers)], { limits: { requestsMax: 2, connectionsPerAddressMax: 1 } })
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

    const edgeQuota = { requests: 5, windowS: 60, trustedProxies: [], addressesMax: 10 }
    const crowded = await start([{ ...mount(main, handlers), quota: true }], { limits: { requestsMax: 1 }, edgeQuota })
    t.teardown(() => crowded.stop())
    const waiting = fetch(`${crowded.url}/v1/hang`).catch(() => {})
    await until(() => crowded.inflight() === 1)
    const refused = await get(`${crowded.url}/v1/page`)
    t.match(refused, { status: 503, body: { kind: 'overloaded' } })
    t.equal(refused.headers.get('ratelimit-policy'), '"relay-ip";q=5;w=60', 'a 503 has the policy')
    t.match(refused.headers.get('ratelimit'), /r=3;/, 'the refused request counts')
    await crowded.stop()
    await waiting
  })

  t.test('a request with a traceparent belongs to its trace', async (t) => {
    const spans: unknown[] = []
    const tracing = {
      request: (traceparent: string, tracestate: string) => {
        const trace: Trace = {
          headers: { traceparent },
          logFields: { traceId: 'trace', spanId: 'span' },
          below: () => trace,
          record: (span) => spans.push({ traceparent, tracestate, ...span, startedMs: typeof span.startedMs }),
        }
        return trace
      },
    }
    const server = await start([mount(main, handlers)], { tracing })
    t.teardown(() => server.stop())
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    await get(`${server.url}/v1/things/7`, { headers: { traceparent, tracestate: 'vendor=1' } })
    t.match(spans, [
      {
        traceparent,
        tracestate: 'vendor=1',
        name: 'GET /v1/things/{id}',
        kind: 'server',
        startedMs: 'number',
        attributes: {
          'http.request.method': 'GET',
          'http.route': '/v1/things/{id}',
          'http.response.status_code': 200,
          'parley.operation': 'read',
          'parley.request.id': /^req_/,
        },
      },
    ])
  })

  t.test('if an API lacks a handler or is served twice, the server does not start', async (t) => {
    await t.rejects(start([mount(main, {})]), /no handler for echo/)
    await t.rejects(start([mount(main, handlers), mount(main, handlers)]), /two surfaces serve/)
  })

  t.test('an error event of the listening socket does not end the server', async (t) => {
    const logged: unknown[] = []
    const log = { info: () => {}, error: (fields: object) => void logged.push((fields as { err: Error }).err.message) }
    const server = await start([mount(main, handlers)], { uploadPort: 0, log })
    t.teardown(() => server.stop())
    // node:http reports a failed accept() on the listening socket in this way. A client cannot provoke it reliably, so
    // the test reports one itself.
    const report = (message: unknown) => {
      const { server } = message as { server: NodeServer }
      for (let i = 0; i < 2; i++) server.emit('error', new Error('accept EMFILE'))
    }
    diagnostics.subscribe('http.server.request.start', report)
    t.teardown(() => diagnostics.unsubscribe('http.server.request.start', report))
    const ports = engine === 'node' ? [server.url, server.uploadUrl] : [server.uploadUrl]
    for (const url of ports) t.equal((await fetch(`${url}/v1/things/known`)).status, 200)
    t.same(
      logged,
      ports.map(() => 'accept EMFILE'),
      'a flood of them is one line',
    )
  })
})
