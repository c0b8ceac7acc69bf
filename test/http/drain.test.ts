import { once } from 'node:events'
import net from 'node:net'
import t from 'tap'
import type { Context, Input } from '../../runtime/engine/handler.ts'
import { systemClock } from '../../runtime/timing/clock.ts'
import { TestClock } from '../clock.ts'
import { overEngines } from '../engine/engines.ts'
import { freePort } from '../process/machine.ts'
import { mount, operation, raw, start, surface, until } from './harness.ts'

const events = { '200': { types: ['text/event-stream'], headers: [] } }
const main = surface(
  'main',
  operation('quick', 'get', '/v1/quick'),
  operation('slow', 'get', '/v1/slow'),
  operation('stubborn', 'get', '/v1/stubborn'),
  operation('stream', 'get', '/v1/stream', { responses: events }),
)
const health = surface('health', operation('readyz', 'get', '/readyz'))

const aborted = (signal: Context['signal']) =>
  new Promise<never>((_resolve, reject) =>
    signal.addEventListener('abort', () => reject((signal.reason as Error | undefined) ?? new Error('aborted'))),
  )

overEngines(t, (t, engine) => {
  let finish = () => {}
  const handlers = {
    quick: () => ({ status: 200, body: 'quick' }),
    slow: () =>
      new Promise<{ status: number; body: string }>((resolve) => {
        finish = () => resolve({ status: 200, body: 'slow' })
      }),
    stubborn: () => new Promise<never>(() => {}),
    stream: (_input: Input, { signal }: Context) => ({
      status: 200,
      body: (async function* () {
        yield { data: 1 }
        await aborted(signal)
      })(),
    }),
  }

  async function connected(port: number): Promise<net.Socket> {
    const socket = net.connect(port, '127.0.0.1')
    await once(socket, 'connect')
    return socket
  }

  async function serve(overrides: Parameters<typeof start>[1] = {}) {
    let state = () => 'starting'
    const server = await start(
      [
        mount(main, handlers),
        mount(health, { readyz: () => ({ status: 200, body: state() }) }, { health: true, quota: false }),
      ],
      { uploadPort: 0, ...overrides },
    )
    state = () => server.state
    return server
  }

  t.test('a drain accepts requests until the load balancer has noticed, and lets open requests finish', async (t) => {
    const clock = new TestClock()
    const port = await freePort()
    const server = await serve({ clock, port, drain: { lbDelayMs: 5000, graceMs: 30_000 } })
    t.equal(server.state, 'ready')

    const pooled = net.connect(port, '127.0.0.1')
    const slow = fetch(`${server.url}/v1/slow`).then((response) => response.text())
    await until(() => server.inflight() === 1)
    let isDrained = false
    const draining = server.drain().then(() => {
      isDrained = true
    })
    t.equal(server.state, 'draining')
    t.equal(server.drain() instanceof Promise, true, 'asking twice is asking once')

    for (const url of [server.url, server.uploadUrl]) {
      const served = await fetch(`${url}/v1/quick`)
      t.equal(served.status, 200, 'a load balancer has not noticed yet')
      t.equal(served.headers.get('connection'), 'close')
      t.equal(await served.text(), '"quick"')
      t.equal(await (await fetch(`${url}/readyz`)).text(), '"draining"')
    }
    const keptAlive = await connected(port)
    const keptUpload = await connected(server.uploadPort as number)

    clock.pass(2500)
    await until(() => clock.timers === 1)
    for (const url of [server.url, server.uploadUrl])
      t.not((await fetch(`${url}/v1/quick`)).headers.get('connection'), 'close', 'now connections are kept')
    clock.pass(2500)
    await until(() => clock.timers === 1)
    for (const kept of [keptAlive, keptUpload]) {
      kept.write('GET /v1/quick HTTP/1.1\r\nHost: a\r\n\r\n')
      const [answer] = (await once(kept, 'data')) as [Buffer]
      t.match(
        answer.toString(),
        /^HTTP\/1.1 200 OK\r\n.*Connection: close\r\n.*"quick"/is,
        'what was on its way is served',
      )
      kept.destroy()
    }
    t.match(
      await raw(port, 'GET /readyz HTTP/1.1\r\nHost: a\r\n\r\n', 200),
      { text: '', isClosed: true },
      'no new connection',
    )
    clock.pass(200)
    t.notOk(isDrained)
    finish()
    t.equal(await slow, '"slow"', 'what was in flight is finished')
    await draining
    t.equal(server.state, 'stopped')
    t.equal(server.inflight(), 0)
    t.equal(clock.timers, 0)
    await until(() => pooled.destroyed || pooled.readableEnded || pooled.closed)
    pooled.destroy()

    const next = await serve({ port })
    t.equal(next.port, port, 'the port is free again')
    await next.stop()
  })

  /** The stages of a drain at which it is stopped. */
  for (const [when, lbDelayMs, waits] of [
    ['while the load balancer notices', 60_000, []],
    ['while connections are kept', 60_000, [30_000]],
    ['while late requests arrive', 0, []],
    ['in the grace', 0, [200]],
    ['while the last words are sent', 0, [200, 60_000]],
  ] as const)
    t.test(`stop ends a drain at once ${when}`, async (t) => {
      const clock = new TestClock()
      const server = await serve({ clock, drain: { lbDelayMs, graceMs: 60_000 } })
      const stubborn = fetch(`${server.url}/v1/stubborn`).catch((error: Error) => error.name)
      await until(() => server.inflight() === 1)
      const drained = server.drain()
      for (const ms of waits) {
        await until(() => clock.timers === 1)
        clock.pass(ms)
      }
      await until(() => clock.timers === 1)
      let isOver = false
      void Promise.all([server.stop(), drained]).then(() => (isOver = true))
      t.equal(await stubborn, 'TypeError')
      // A stop waits up to 500 ms at its end for handlers that ignore their signal. The grace period of the drain is
      // far longer.
      await until(() => {
        clock.pass(10)
        return isOver
      })
      t.equal(server.state, 'stopped')
    })

  t.test('a request that arrives after the grace period of a drain is refused', async (t) => {
    const clock = new TestClock()
    const port = await freePort()
    const server = await serve({ clock, port, drain: { lbDelayMs: 0, graceMs: 1000 } })
    const stubborn = fetch(`${server.url}/v1/stubborn`).catch((error: Error) => error.name)
    await until(() => server.inflight() === 1)
    const late = await connected(port)
    const drained = server.drain()
    for (const ms of [200, 1000]) {
      await until(() => clock.timers === 1)
      clock.pass(ms)
    }
    await until(() => server.state === 'ending')
    late.write('GET /v1/quick HTTP/1.1\r\nHost: a\r\n\r\n')
    const [answer] = (await once(late, 'data')) as [Buffer]
    t.match(answer.toString(), /^HTTP\/1.1 503 .*\r\nRetry-After: 1\r\n.*overloaded/is)
    late.destroy()
    for (let step = 0; server.state !== 'stopped' || step < 3; step++) {
      clock.pass(500)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    await drained
    t.equal(await stubborn, 'TypeError')
  })

  t.test('a request that does not finish within the grace period of a drain is cancelled', async (t) => {
    const server = await serve({ drain: { lbDelayMs: 0, graceMs: 50 } })
    const stream = fetch(`${server.url}/v1/stream`).then((response) => response.text())
    await until(() => server.inflight() === 1)
    const stubborn = fetch(`${server.url}/v1/stubborn`).catch((error: Error) => error.name)
    await until(() => server.inflight() === 2)
    await server.drain()
    t.match(await stream, /^id: 0\ndata: 1\n\nevent: error\nid: 1\ndata: \{.*\}\n\n$/, 'a stream says so')
    t.equal(await stubborn, 'TypeError')
    t.equal(server.state, 'stopped')
  })

  t.test('stop ends open streams and may be called twice', async (t) => {
    const server = await serve({ clock: systemClock })
    const stream = await fetch(`${server.uploadUrl}/v1/stream`)
    const reading = stream.text().catch((error: Error) => error.name)
    await server.stop()
    await server.stop()
    t.equal(server.inflight(), 0)
    await reading
    t.match(server.ended, [{ operation: 'stream', status: 200 }])
    await t.rejects(fetch(server.url))
  })

  t.test('if the port is in use, the error names the port', async (t) => {
    const server = await serve()
    t.teardown(() => server.stop())
    await t.rejects(serve({ port: server.port }), {
      message: `cannot listen on 127.0.0.1:${server.port}: the port is taken, or the address is not this machine's`,
    })
    await t.rejects(serve({ uploadPort: server.uploadPort }), /the port is taken/)
    t.equal((await fetch(`${server.url}/v1/quick`)).status, 200)
  })

  const byChildren = engine === 'node' && 'over node:http only a child process can join: test/process/life.test.ts'

  t.test('two servers share a port: when one stops, the other answers', { skip: byChildren }, async (t) => {
    const first = await serve({ sharedPort: 'opens', port: await freePort() })
    const second = await serve({ sharedPort: 'joins', port: first.port })
    t.equal(second.port, first.port)
    await first.stop()
    t.equal((await fetch(`${second.url}/v1/quick`)).status, 200)
    await second.stop()
  })
})
