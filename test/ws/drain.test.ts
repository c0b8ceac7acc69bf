import t from 'tap'
import type { WebSocket } from 'ws'
import type { Socket, SocketContext } from '../../runtime/engine/socket.ts'
import { TestClock } from '../clock.ts'
import { overEngines } from '../engine/engines.ts'
import { until } from '../http/harness.ts'
import { closing, nextText, open, protocol, Recorder, refused, serve } from './harness.ts'

const goodbye = '{"type":"said","text":"SHUTTING_DOWN"}'

/** A session that answers its frames, and sends a last frame when the server ends it. */
function polite(socket: Socket, context: SocketContext): Recorder {
  const made = new Recorder(socket, context)
  made.flush = () => void socket.send('{"type":"said","text":"flushed"}')
  made.onShutdown = () => {
    socket.send(goodbye)
    socket.close(1012, 'bye')
  }
  return made
}

overEngines(t, (t) => {
  t.test('during a drain sockets may end by themselves within the grace period', async (t) => {
    const clock = new TestClock()
    const server = await serve({
      options: { clock, drain: { lbDelayMs: 5000, graceMs: 20_000 } },
      session: (socket, context) =>
        context.query.has('polite') ? polite(socket, context) : new Recorder(socket, context),
    })
    const early = await open(`${server.wsUrl}/v1/talk?polite`)
    const stubborn = await open(`${server.wsUrl}/v1/talk`)
    const begun = waiting(clock)
    const drained = server.drain()
    const late = await open(`${server.wsUrl}/v1/talk?polite`)
    const ends = Promise.all([closing(early), closing(late), closing(stubborn)])
    const flush = async (client: WebSocket) => {
      client.send('{"type":"flush"}')
      t.match(await nextText(client), 'flushed')
    }
    await flush(early)
    await flush(late)

    for (const halfMs of [2500, 2500]) {
      await begun()
      clock.pass(halfMs)
    }
    await begun()
    await t.rejects(open(`${server.wsUrl}/v1/talk`), { code: 'ECONNREFUSED' }, 'the listener has closed')
    await flush(early)
    clock.pass(200)
    await begun()
    clock.pass(19_999)
    await flush(late)
    t.same(
      [early, late, stubborn].map(({ readyState }) => readyState),
      [1, 1, 1],
      'all are open to the end of the grace',
    )

    const words = Promise.all([nextText(early), nextText(late)])
    clock.pass(1)
    t.same(await words, [goodbye, goodbye])
    // One session does not close itself, so it gets a little more time.
    await until(() => server.sockets() === 1)
    await begun()
    clock.pass(500)
    await until(() => server.sockets() === 0)
    const bye = { code: 1012, reason: 'bye' }
    t.same(await ends, [bye, bye, { code: 1012, reason: 'service restart' }])
    await until(() => clock.timers === 1)
    clock.pass(200)
    await drained
    t.same(server.sessions[1]?.events, ['shutdown', 'gone'])
    t.equal(server.state, 'stopped')
  })

  t.test('the grace period of a drain is extended while `isNeeded` returns true, up to a limit', async (t) => {
    const clock = new TestClock()
    let isNeeded = true
    const extension = { ms: 60_000, isNeeded: () => isNeeded }
    const server = await serve({
      options: { clock, drain: { lbDelayMs: 0, graceMs: 20_000, extension } },
      session: polite,
    })
    const client = await open(`${server.wsUrl}/v1/talk`)
    const begun = waiting(clock)
    const drained = server.drain()
    for (const ms of [200, 20_000, 500, 500]) {
      await begun()
      clock.pass(ms)
    }
    await begun()
    t.equal(client.readyState, 1, 'it is open behind the grace')
    isNeeded = false
    const word = nextText(client)
    clock.pass(500)
    t.equal(await word, goodbye)
    await drained
  })

  t.test('the extended grace period of a drain ends at its limit, even if `isNeeded` still returns true', async (t) => {
    const clock = new TestClock()
    const extension = { ms: 21_000, isNeeded: () => true }
    const server = await serve({
      options: { clock, drain: { lbDelayMs: 0, graceMs: 20_000, extension } },
      session: polite,
    })
    const client = await open(`${server.wsUrl}/v1/talk`)
    const begun = waiting(clock)
    const drained = server.drain()
    const word = nextText(client)
    for (const ms of [200, 20_000, 500, 500]) {
      await begun()
      clock.pass(ms)
    }
    t.equal(await word, goodbye)
    await drained
  })

  t.test('without open sockets a drain ends at once', async (t) => {
    const server = await serve({ options: { drain: { lbDelayMs: 0, graceMs: 60_000 } } })
    const client = await open(`${server.wsUrl}/v1/talk`)
    const drained = server.drain()
    client.close()
    await drained
    t.equal(server.state, 'stopped')
    t.same(server.sessions[0]?.events, ['gone'], 'a session that ends by itself is not notified')
  })

  /** The stages at which a drain is stopped. `waits` has the times before the stop. */
  for (const [what, lbDelayMs, waits] of [
    ['while the load balancer notices', 5000, []],
    ['while connections are kept', 5000, [2500]],
    ['while late requests arrive', 0, []],
    ['in the grace', 0, [200]],
    ['while the last words are sent', 0, [200, 60_000]],
  ] as const)
    t.test(`stop ends a drain ${what}`, async (t) => {
      const clock = new TestClock()
      const server = await serve({
        options: { clock, drain: { lbDelayMs, graceMs: 60_000 } },
        session: (socket, context) =>
          context.query.has('polite') ? polite(socket, context) : new Recorder(socket, context),
      })
      const client = await open(`${server.wsUrl}/v1/talk?polite`)
      const stubborn = await open(`${server.wsUrl}/v1/talk`)
      const end = Promise.all([nextText(client), closing(client), closing(stubborn)])
      const begun = waiting(clock)
      const drained = server.drain()
      for (const ms of waits) {
        await begun()
        clock.pass(ms)
      }
      await begun()
      const stopped = server.stop()
      const bye = { code: 1012, reason: 'bye' }
      const seen = await end
      t.same(seen, [goodbye, bye, { ...bye, reason: 'service restart' }], 'sessions have their last words all the same')
      await until(() => clock.timers === 1)
      clock.pass(200)
      await Promise.all([stopped, drained])
      t.equal(server.state, 'stopped')
      t.equal(clock.timers, 0)
    })

  t.test('stop closes each socket with 1012', async (t) => {
    const server = await serve()
    const client = await open(`${server.wsUrl}/v1/talk`)
    // The client is sending: a reset would also discard the close frame.
    const speech = setInterval(() => client.send(Buffer.alloc(640)), 1)
    const end = closing(client)
    await server.stop()
    clearInterval(speech)
    t.same(await end, { code: 1012, reason: 'service restart' })
    t.same(server.sessions[0]?.events.at(-1), 'gone')
  })

  t.test('an upgrade that is admitted after stop is refused or its connection is closed', async (t) => {
    let admitted = () => {}
    const server = await serve({ mount: { admit: () => new Promise<void>((resolve) => (admitted = resolve)) } })
    const answer = refused(`${server.wsUrl}/v1/talk`, protocol).catch((error: NodeJS.ErrnoException) => error.code)
    await until(() => server.inflight() === 1)
    const stopped = server.stop()
    admitted()
    const seen = await answer
    t.ok(seen === 'ECONNRESET' || (typeof seen === 'object' && seen.status === 503), 'refused, or cut')
    await stopped
    t.equal(server.sessions.length, 0)
  })
})

/** Resolves when the clock has one more timer than now, because the drain has begun its next wait. */
function waiting(clock: TestClock): () => Promise<void> {
  const before = clock.timers
  return () => until(() => clock.timers === before + 1)
}
