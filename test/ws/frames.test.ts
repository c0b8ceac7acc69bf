import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import type { WebSocket } from 'ws'
import { overEngines } from '../engine/engines.ts'
import { until } from '../http/harness.ts'
import { channel, closing, nextText, open, Recorder, serve } from './harness.ts'

overEngines(t, (t) => {
  t.test('text frames are validated against the contract', async (t) => {
    const server = await serve()
    t.teardown(() => server.stop())
    const client = await open(`${server.wsUrl}/v1/talk`)
    const answerTo = async (sent: string | Buffer) => {
      const session = server.sessions[0] as Recorder
      const before = session.events.length
      client.send(sent)
      await until(() => session.events.length > before)
      return session.events.at(-1)
    }

    t.same(
      await answerTo('{"type":"config","rate":8000}'),
      { type: 'config', rate: 8000, mode: 'a' },
      'defaults are filled in',
    )
    t.equal(await answerTo('{"type":"flush"}'), 'flush')
    t.same(await answerTo(Buffer.from([0, 1, 255])), Buffer.from([0, 1, 255]))
    t.same(await answerTo(Buffer.alloc(0)), Buffer.alloc(0))

    const unknown = { kind: 'unknown_type', message: '/type must be one of config, flush' }
    const secret = 'd41d8cd9'
    for (const [sent, problem] of [
      [secret, { kind: 'not_json', type: null, message: 'the frame is not valid JSON' }],
      ['', { kind: 'not_json' }],
      ['[1]', { kind: 'invalid', type: null, message: 'a frame is a JSON object' }],
      ['null', { kind: 'invalid' }],
      ['{}', { kind: 'unknown_type', type: null, message: '/type is required: one of config, flush' }],
      ['{"type":7}', { ...unknown, type: null }],
      ['{"type":"toString"}', { ...unknown, type: 'toString' }],
      [`{"type":"${'x'.repeat(1000)}"}`, { ...unknown, type: 'x'.repeat(64) }],
      ['{"type":"config"}', { kind: 'invalid', type: 'config', message: '/rate is required' }],
      [`{"type":"config","rate":"${secret}"}`, { kind: 'invalid', message: '/rate must be integer' }],
      ['{"type":"flush","more":1}', { kind: 'invalid', message: '/more is not a known field' }],
      ['{"type":"flush","__proto__":{}}', { kind: 'invalid', type: null, message: '/__proto__ is not a known field' }],
      ['{"__\\u0070roto__":1}', { kind: 'invalid', message: '/__proto__ is not a known field' }],
      ['['.repeat(100_000), { kind: 'invalid', message: 'the JSON has more than 64 levels' }],
    ] as const) {
      const problemSeen = await answerTo(sent)
      t.match(problemSeen, problem, sent.slice(0, 40))
      t.notMatch(JSON.stringify(problemSeen), secret)
    }
    client.close(1000, 'done')
    await until(() => server.sessions[0]?.events.at(-1) === 'gone')
    t.same(server.closed, [1000])
  })

  t.test('a channel may use a field other than type for the frame type', async (t) => {
    const server = await serve({ channels: [channel({ frameType: 'event' })] })
    t.teardown(() => server.stop())
    const client = await open(`${server.wsUrl}/v1/talk`)
    client.send('{"type":"flush"}')
    client.send('{"event":"surprise"}')
    await until(() => server.sessions[0]?.events.length === 2)
    t.match(server.sessions[0]?.events, [
      { kind: 'unknown_type', type: null, message: '/event is required: one of config, flush' },
      { kind: 'unknown_type', type: 'surprise', message: '/event must be one of config, flush' },
    ])
    client.close()
  })

  t.test('a binary frame on a channel of text frames is reported to the session as binary', async (t) => {
    const server = await serve({ channels: [channel({ acceptsBinary: false })] })
    t.teardown(() => server.stop())
    const client = await open(`${server.wsUrl}/v1/talk`)
    client.send(Buffer.alloc(3))
    await until(() => server.sessions[0]?.events.length === 1)
    t.match(server.sessions[0]?.events, [{ kind: 'binary', type: null }])
    client.terminate()
  })

  t.test('a frame above the size limit closes its socket, and other sockets stay open', async (t) => {
    const server = await serve()
    t.teardown(() => server.stop())
    const [big, other, exact] = [
      await open(`${server.wsUrl}/v1/talk`),
      await open(`${server.wsUrl}/v1/talk`),
      await open(`${server.wsUrl}/v1/talk`),
    ]
    big.on('error', () => {})
    const cut = closing(big)
    big.send(Buffer.alloc(10_000_000))
    t.equal((await cut).code, 1006)
    await until(() => server.closed.length === 1)
    t.same(server.closed, [1006])
    t.same(server.sessions[0]?.events, ['gone'])
    exact.send(Buffer.alloc(262_144))
    other.send('{"type":"flush"}')
    await until(() => server.sessions[1]?.events.length === 1 && server.sessions[2]?.events.length === 1)
    t.equal((server.sessions[2]?.events[0] as Buffer).length, 262_144)
    other.terminate()
    exact.terminate()
  })

  t.test('a session can send text frames and binary frames', async (t) => {
    const server = await serve({
      session: (socket, context) =>
        Object.assign(new Recorder(socket, context), {
          flush() {
            t.equal(socket.send('{"type":"said","text":"grün"}'), true)
            t.equal(socket.sendBytes(new Uint8Array([9, 1, 2, 9]).subarray(1, 3)), true)
            t.equal(socket.bufferedBytes, 0)
            socket.close(4001, 'enough')
            t.equal(socket.send('{"type":"said","text":"late"}'), false)
            t.equal(socket.sendBytes(new Uint8Array(1)), false)
            socket.close(1000, 'again')
          },
        }),
    })
    t.teardown(() => server.stop())
    const client = await open(`${server.wsUrl}/v1/talk`)
    const got: string[] = []
    client.on('message', (data: Buffer, isBinary) => got.push(isBinary ? data.toString('hex') : data.toString()))
    const closed = closing(client)
    // Both frames arrive in one TCP segment. Frames after the close no longer reach the session.
    for (const text of ['{"type":"flush"}', '{"type":"flush"}']) client.send(text)
    t.same(await closed, { code: 4001, reason: 'enough' })
    t.same(got, ['{"type":"said","text":"grün"}', '0102'])
    const [session] = server.sessions
    t.same(session?.events, ['gone'])
    t.equal(session?.context.signal.aborted, true)
    t.equal(session?.socket.send('x'), false)
    t.equal(session?.socket.bufferedBytes, 0)
    session?.socket.close(1000, '')
    t.same(server.closed, [4001])
  })

  t.test('if one session throws, other sessions go on', async (t) => {
    const methods = ['flush', 'onBytes', 'onRefused', 'onGone'] as const
    const server = await serve({
      session: (socket, context) => {
        const at = context.query.get('at')
        if (at === 'open') throw new Error('boom')
        const made = new Recorder(socket, context)
        const method = methods.find((name) => name === at)
        if (method) {
          made[method] = () => {
            throw new Error('boom')
          }
        }
        return made
      },
    })
    t.teardown(() => server.stop())
    const other = await open(`${server.wsUrl}/v1/talk`)
    const act: Record<string, (client: WebSocket) => void> = {
      open: () => {},
      flush: (client) => client.send('{"type":"flush"}'),
      onBytes: (client) => client.send(Buffer.alloc(2)),
      onRefused: (client) => client.send('?'),
    }
    for (const [at, run] of Object.entries(act)) {
      const client = await open(`${server.wsUrl}/v1/talk?at=${at}`)
      const closed = closing(client)
      run(client)
      t.same(await closed, { code: 1011, reason: 'internal error' }, at)
    }
    const leaving = await open(`${server.wsUrl}/v1/talk?at=onGone`)
    leaving.terminate()
    await until(() => server.errors.length === 5)
    t.match(server.errors, Array<RegExp>(5).fill(/boom/))
    other.send('{"type":"flush"}')
    await until(() => server.sessions[0]?.events.length === 1)
    t.equal(server.sockets(), 1)
    other.terminate()
  })

  t.test('if a frame that the server sends breaks the contract, the socket closes with 1011', async (t) => {
    const server = await serve({
      session: (socket, context) =>
        Object.assign(new Recorder(socket, context), {
          flush: () => void socket.send(context.query.get('send') ?? ''),
        }),
    })
    t.teardown(() => server.stop())
    for (const [send, problem] of [
      ['{"type":"said"}', /talk said: \/text is required/],
      ['{"type":"shouted"}', /a type that the contract does not know/],
    ] as const) {
      const client = await open(`${server.wsUrl}/v1/talk?send=${encodeURIComponent(send)}`)
      const closed = closing(client)
      client.send('{"type":"flush"}')
      t.equal((await closed).code, 1011)
      t.match(server.errors.at(-1), problem)
    }
  })

  t.test('if a thousand sockets are closed at once, each receives the last frame of its session', async (t) => {
    const server = await serve()
    t.teardown(() => server.stop())
    const ends: Promise<[string, { code: number }]>[] = []
    for (let batch = 0; batch < 10; batch++) {
      const clients = await Promise.all(Array.from({ length: 100 }, () => open(`${server.wsUrl}/v1/talk`)))
      ends.push(...clients.map((client) => Promise.all([nextText(client), closing(client)])))
    }
    t.equal(server.sockets(), 1000)
    for (const { socket } of server.sessions) {
      socket.send('{"type":"said","text":"UPSTREAM"}')
      socket.close(1011, 'upstream')
    }
    for (const [text, { code }] of await Promise.all(ends)) {
      if (text !== '{"type":"said","text":"UPSTREAM"}' || code !== 1011) t.fail(`${text} ${code}`)
    }
    t.equal(server.sockets(), 0)
    t.ok(server.sessions.every(({ events }) => events.length === 1 && events[0] === 'gone'))
    await sleep(0)
  })
})
