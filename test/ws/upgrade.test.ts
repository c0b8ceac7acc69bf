import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import t from 'tap'
import { WebSocket } from 'ws'
import { Refusal } from '../../runtime/engine/handler.ts'
import { overEngines } from '../engine/engines.ts'
import { faults, mount, operation, raw, start, surface, until } from '../http/harness.ts'
import { channel, open, protocol, Recorder, refused, serve } from './harness.ts'

/** Opens a client. Returns it with the headers of the 101 answer. */
async function shaken(url: string, protocols: string[], headers: Record<string, string> = {}) {
  const client = new WebSocket(url, protocols, { headers })
  const [[response]] = (await Promise.all([once(client, 'upgrade'), once(client, 'open')])) as [[IncomingMessage], []]
  client.terminate()
  return response.headers
}

overEngines(t, (t) => {
  t.test('an upgrade request is answered with its subprotocol and headers', async (t) => {
    const server = await serve({
      options: { edgeQuota: { requests: 100, windowS: 300, trustedProxies: [], addressesMax: 10 } },
    })
    t.teardown(() => server.stop())
    const url = `${server.wsUrl}/v1/talk?a=1&b=%20x`

    const headers = await shaken(url, ['service.ephemeral.s3cret', 'other', protocol], {
      authorization: 'Bearer k',
      origin: 'https://a.example',
    })
    t.equal(headers['sec-websocket-protocol'], protocol, 'the literal, and not the first of the list')
    t.match(headers, { 'service-request-id': 'req_1', 'service-region': 'testland' })
    t.match(headers['ratelimit'], /^"relay-ip";r=99;t=\d+$/)
    t.equal(headers['ratelimit-policy'], '"relay-ip";q=100;w=300')
    t.notOk(headers['sec-websocket-extensions'])
    const [asked] = server.asked
    t.match(asked, {
      channelId: 'talk',
      scope: 'realtime',
      role: 'member',
      requestId: 'req_1',
      authorization: 'Bearer k',
      credential: 's3cret',
      origin: 'https://a.example',
      host: `127.0.0.1:${server.port}`,
    })
    t.same(
      [...(asked?.query ?? [])],
      [
        ['a', '1'],
        ['b', ' x'],
      ],
    )
    const { context } = server.sessions[0] ?? {}
    t.match(context, { requestId: 'req_1', channelId: 'talk', caller: { name: 'caller' } })
    await until(() => context?.signal.aborted === true)
    t.same(server.sessions[0]?.events, ['gone'])
    t.same(server.closed, [1006])
    t.equal(server.sockets(), 0)
  })

  t.test("an upgrade answer's headers have the operator's prefix", async (t) => {
    const server = await serve({ options: { headerPrefix: 'Acme' } })
    t.teardown(() => server.stop())
    const url = `${server.wsUrl}/v1/talk`
    const headers = await shaken(url, ['acme.ephemeral.tok', 'acme.realtime.v1'])
    t.equal(headers['sec-websocket-protocol'], 'acme.realtime.v1')
    t.equal(headers['acme-region'], 'testland')
    t.equal(server.asked[0]?.credential, 'tok')
    const { status, body } = await refused(url)
    t.equal(status, 400)
    t.match(body['message'], /acme\.realtime\.v1/)
  })

  t.test('a refused upgrade is answered with a status and an error body', async (t) => {
    let fault: Error | null = null
    const server = await serve({
      mount: {
        admit: async () => {
          await new Promise(setImmediate)
          if (fault) throw fault
        },
      },
      options: { headerPrefix: 'Service' },
    })
    t.teardown(() => server.stop())
    const url = `${server.wsUrl}/v1/talk`

    for (const [kind, status] of [
      ['unauthenticated', 401],
      ['forbidden', 403],
      ['rate_limited', 429],
      ['overloaded', 503],
    ] as const) {
      fault = new Refusal(kind, { retryAfterS: 7 })
      const answer = await refused(url)
      t.match(answer, { status, body: { surface: 'realtime', kind } })
      t.equal(answer.headers['retry-after'], '7')
      t.equal(answer.headers['service-region'], 'testland')
      t.equal(answer.headers['service-request-id'], answer.body['requestId'])
    }
    fault = new Error('boom')
    t.match(await refused(url), { status: 500, body: { kind: 'internal' } })
    fault = null

    t.match(await refused(url, []), { status: 400, body: { param: 'Sec-WebSocket-Protocol' } })
    t.match(await refused(url, ['service.realtime.v2', 'service.ephemeral.x']), { status: 400 })
    t.match(await refused(url, protocol, { protocolVersion: 8 }), { body: { param: 'Sec-WebSocket-Version' } })

    t.match(await refused(`${server.wsUrl}/v1/nowhere`), { status: 404, body: { surface: 'plain' } })
    const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n'
    const noUpgrade = await raw(server.port, `GET /v1/talk HTTP/1.1\r\nHost: a\r\n${key}\r\n`)
    t.match(noUpgrade.text, /^HTTP\/1.1 400 .*"param":"Upgrade"/s)
    const closing = await raw(
      server.port,
      `GET /v1/talk HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: close\r\n${key}\r\n`,
    )
    t.match(closing.text, /^HTTP\/1.1 400 .*"param":"Connection"/s)
    const asked = `Host: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Protocol: ${protocol}\r\n`
    const old = await raw(server.port, `GET /v1/talk HTTP/1.0\r\n${asked}${key}\r\n`)
    t.match(old.text, /^HTTP\/1.1 (400 .*"param":"Upgrade"|505 )/s, 'uWebSockets.js answers 505 by itself')
    for (const notBase64 of ['!'.repeat(24), 'a'.repeat(24), `${'a'.repeat(21)}\xff==`, '\xff'.repeat(24)]) {
      const wrongKey = `Sec-WebSocket-Key: ${notBase64}\r\nSec-WebSocket-Version: 13\r\n`
      const { text } = await raw(server.port, Buffer.from(`GET /v1/talk HTTP/1.1\r\n${asked}${wrongKey}\r\n`, 'latin1'))
      t.match(text, /^HTTP\/1.1 400 /, notBase64)
    }
    const twoHosts = await raw(server.port, `GET /v1/talk HTTP/1.1\r\nHost: a\r\nHost: b\r\n${key}\r\n`)
    t.match(twoHosts, { text: /^($|HTTP\/1.1 400 )/, isClosed: true }, 'the newer uWebSockets.js answers 400 by itself')
    for (const method of ['GET', 'POST', 'DELETE']) {
      const plain = await fetch(`${server.url}/v1/talk`, { method })
      t.equal(plain.status, 400, method)
      t.match(await plain.json(), {
        surface: 'realtime',
        kind: 'socket_expected',
        message: /WebSocket address/,
      })
    }
    t.equal(server.sessions.length, 0)
    t.equal(server.inflight(), 0)
  })

  t.test('a socket stays open even if its session allocates much memory when it opens', async (t) => {
    // Takes the memory that uWebSockets.js frees when it makes a socket from a request: see
    // runtime/listeners/uws/listener.ts.
    const kept: Buffer[] = []
    const server = await serve({
      mount: { admit: () => new Promise((resolve) => setImmediate(resolve)) },
      session: (socket, context) => {
        for (let bytes = 8; bytes <= 200; bytes += 8) {
          for (let i = 0; i < 40; i++) kept.push(Buffer.allocUnsafeSlow(bytes).fill(0x10))
        }
        return new Recorder(socket, context)
      },
    })
    t.teardown(() => server.stop())
    const clients = []
    for (let i = 0; i < 100; i++) clients.push(await open(`${server.wsUrl}/v1/talk`))
    // The client's upgrade succeeds a moment before its session opens.
    await until(() => server.sockets() === 100)
    await new Promise((resolve) => setTimeout(resolve, 50))
    t.equal(server.sockets(), 100)
    t.same(server.closed, [])
    for (const client of clients) client.terminate()
  })

  t.test('upgrades over the socket limit or the edge quota are refused', async (t) => {
    const server = await serve({
      options: {
        limits: { socketsMax: 2 },
        edgeQuota: { requests: 4, windowS: 86_400, trustedProxies: [], addressesMax: 10 },
      },
    })
    t.teardown(() => server.stop())
    const url = `${server.wsUrl}/v1/talk`
    const [first, second] = [await open(url), await open(url)]
    t.match(await refused(url), { status: 503, body: { kind: 'overloaded', message: 'too many open sockets' } })
    first.terminate()
    await until(() => server.sockets() === 1)
    const third = await open(url)
    const answer = await refused(url)
    t.match(answer, { status: 429, body: { kind: 'rate_limited' } }, 'an upgrade counts as a request')
    t.match(answer.headers['ratelimit'], /r=0/)
    second.terminate()
    third.terminate()
  })

  t.test('a client may disconnect while its key is looked up', async (t) => {
    let admitted = () => {}
    const server = await serve({
      mount: { admit: () => new Promise<void>((resolve) => (admitted = resolve)) },
    })
    t.teardown(() => server.stop())
    const client = new WebSocket(`${server.wsUrl}/v1/talk`, protocol)
    client.on('error', () => {})
    await until(() => server.inflight() === 1)
    client.terminate()
    // The HTTP exchange ends when the look-up of the API key has ended, not before.
    await new Promise((resolve) => setTimeout(resolve, 50))
    admitted()
    await until(() => server.inflight() === 0)
    t.equal(server.sessions.length, 0)
  })

  t.test('a query parameter with a list of values is validated', async (t) => {
    const server = await serve({ channels: [channel({ query: { intent: ['listening', 'speaking'] } })] })
    t.teardown(() => server.stop())
    for (const query of ['', '?intent=speaking', '?more=of+the+same'])
      (await open(`${server.wsUrl}/v1/talk${query}`)).terminate()
    for (const query of ['?intent=', '?intent=singing', '?intent=speaking&intent=singing'])
      t.match(await refused(`${server.wsUrl}/v1/talk${query}`), { status: 400, body: { param: 'intent' } }, query)
  })

  t.test('a subprotocol may be optional', async (t) => {
    const server = await serve({
      channels: [channel({ subprotocol: 'realtime', requiresSubprotocol: false, credentialPrefix: 'insecure-key.' })],
    })
    t.teardown(() => server.stop())
    const url = `${server.wsUrl}/v1/talk`
    const without = await open(url, [])
    t.equal(without.protocol, '')
    const offered = await open(url, ['insecure-key.k', 'realtime'])
    t.equal(offered.protocol, 'realtime')
    t.equal(server.asked[1]?.credential, 'k')
    without.terminate()
    offered.terminate()
  })

  t.test('a client with an Authorization header may leave out a required subprotocol', async (t) => {
    const server = await serve({})
    t.teardown(() => server.stop())
    const url = `${server.wsUrl}/v1/talk`
    const headers = { authorization: 'Bearer k' }
    const without = await open(url, [], { headers })
    t.equal(without.protocol, '')
    without.terminate()
    t.match(await refused(url, ['other'], { headers }), { status: 400, body: { param: 'Sec-WebSocket-Protocol' } })
    t.match(await refused(url, []), { status: 400, body: { param: 'Sec-WebSocket-Protocol' } })
  })

  t.test('the path of a channel may have parameters', async (t) => {
    const server = await serve({
      channels: [
        channel({ id: 'media', address: '/v1/sessions/{id}/media/{leg}', parameters: ['id', 'leg'] }),
        channel({ id: 'newest', address: '/v1/sessions/newest/media/{leg}', parameters: ['leg'] }),
        channel(),
      ],
    })
    t.teardown(() => server.stop())
    const client = await open(`${server.wsUrl}/v1/sessions/s%C3%A9s%2F1/media/b?x=1`)
    t.same(server.asked[0]?.path, { id: 'sés/1', leg: 'b' })
    t.match(server.sessions[0]?.context, { channelId: 'media', path: { id: 'sés/1', leg: 'b' } })
    client.terminate()
    const literal = await open(`${server.wsUrl}/v1/sessions/newest/media/b`)
    t.match(server.sessions[1]?.context, { channelId: 'newest', path: { leg: 'b' } })
    literal.terminate()
    const plain = await open(`${server.wsUrl}/v1/talk`)
    t.match(server.sessions[2]?.context, { channelId: 'talk', path: {} })
    plain.terminate()
    const odd = await open(`${server.wsUrl}/v1/sessions/%FF/media/b`)
    t.match(server.sessions[3]?.context, { path: { id: '%FF', leg: 'b' } }, 'an id of nothing')
    odd.terminate()
    t.match(await refused(`${server.wsUrl}/v1/sessions//media/b`), { status: 404 })
    t.match(await (await fetch(`${server.url}/v1/sessions/1/media/b`)).json(), {
      kind: 'socket_expected',
      message: 'this is a WebSocket address: it takes an upgrade and nothing else',
    })
  })

  t.test('a channel with a host name is served only at that host', async (t) => {
    const own = { surface: { name: 'own', channels: [channel({ id: 'own' })] }, basePath: '', host: 'rt.example' }
    const server = await serve({
      more: [
        {
          ...own,
          handlers: { own: (socket, context) => new Recorder(socket, context) },
          admit: () => {
            throw new Refusal('forbidden')
          },
          writeFault: faults('own'),
        },
      ],
    })
    t.teardown(() => server.stop())
    const url = `${server.wsUrl}/v1/talk`
    t.match(await refused(url, protocol, { headers: { host: 'RT.example:443' } }), {
      status: 403,
      body: { surface: 'own' },
    })
    const elsewhere = await open(url)
    elsewhere.terminate()
  })

  t.test('WebSockets and HTTP requests are served at the same path', async (t) => {
    const http = mount(surface('http', operation('listTalk', 'get', '/v1/talk')), {
      listTalk: () => ({ status: 200, body: 'http' }),
    })
    const server = await start([http], {
      sockets: [
        {
          surface: { name: 'realtime', channels: [channel()] },
          basePath: '',
          host: null,
          handlers: { talk: (socket, context) => new Recorder(socket, context) },
          admit: () => null,
          writeFault: faults('realtime'),
        },
      ],
    })
    t.teardown(() => server.stop())
    t.equal(await (await fetch(`${server.url}/v1/talk`)).json(), 'http')
    const client = await open(`ws://127.0.0.1:${server.port}/v1/talk`)
    client.terminate()
  })

  t.test('the server does not start with socket routes that it cannot serve', async (t) => {
    await t.rejects(serve({ mount: { handlers: {} } }), /surface realtime: no handler for talk/)
    await t.rejects(serve({ channels: [channel(), channel({ id: 'again' })] }), /two channels serve \/v1\/talk/)
    await t.rejects(serve({ channels: [channel({ address: '/v1/talk-{id}' })] }), /a parameter must be a whole segment/)
    const sameShape = [channel({ address: '/v1/{id}' }), channel({ id: 'again', address: '/v1/{name}' })]
    await t.rejects(serve({ channels: sameShape }), /two channels serve \/v1\/\{name\}/)
    await t.rejects(serve({ options: { limits: { pingS: 4 } } }), /pingS must be from 8 to 960/)
  })
})
