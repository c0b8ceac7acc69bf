import t from 'tap'
import type { WebSocket } from 'ws'
import type { Socket, SocketContext } from '../../runtime/engine/socket.ts'
import { ManualClock, until } from '../http/harness.ts'
import { closing, nextText, open, protocol, Recorder, refused, serve } from './harness.ts'

const goodbye = '{"type":"said","text":"SHUTTING_DOWN"}'

/** A session that answers its frames, and says goodbye when the server ends it. */
function polite(socket: Socket, context: SocketContext): Recorder {
  const made = new Recorder(socket, context)
  made.flush = () => void socket.send('{"type":"said","text":"flushed"}')
  made.onShutdown = () => {
    socket.send(goodbye)
    socket.close(1012, 'bye')
  }
  return made
}

t.test('a drain leaves sockets their grace', async (t) => {
  const clock = new ManualClock()
  const server = await serve({
    options: { clock, drain: { lbDelayMs: 5000, graceMs: 20_000 } },
    session: (socket, context) =>
      context.query.has('polite') ? polite(socket, context) : new Recorder(socket, context),
  })
  const early = await open(`${server.wsUrl}/v1/talk?polite`)
  const stubborn = await open(`${server.wsUrl}/v1/talk`)
  const drained = server.drain()
  const late = await open(`${server.wsUrl}/v1/talk?polite`)
  const ends = Promise.all([closing(early), closing(late), closing(stubborn)])
  const flush = async (client: WebSocket) => {
    client.send('{"type":"flush"}')
    t.match(await nextText(client), 'flushed')
  }
  await flush(early)
  await flush(late)

  clock.advance(2500)
  await turns()
  clock.advance(2500)
  await turns()
  await t.rejects(open(`${server.wsUrl}/v1/talk`), { code: 'ECONNREFUSED' }, 'the listener has closed')
  await flush(early)
  clock.advance(200)
  await turns()
  clock.advance(19_999)
  await flush(late)
  t.same(
    [early, late, stubborn].map(({ readyState }) => readyState),
    [1, 1, 1],
    'all are open to the end of the grace',
  )

  const words = Promise.all([nextText(early), nextText(late)])
  clock.advance(1)
  t.same(await words, [goodbye, goodbye])
  // The stubborn session has a moment more.
  await until(() => server.sockets() === 1)
  await turns()
  clock.advance(500)
  await until(() => server.sockets() === 0)
  const bye = { code: 1012, reason: 'bye' }
  t.same(await ends, [bye, bye, { code: 1012, reason: 'service restart' }])
  clock.advance(200)
  await drained
  t.same(server.sessions[1]?.events, ['shutdown', 'gone'])
  t.equal(server.state, 'stopped')
})

t.test('drain does not wait without open sockets', async (t) => {
  const server = await serve({ options: { drain: { lbDelayMs: 0, graceMs: 60_000 } } })
  const client = await open(`${server.wsUrl}/v1/talk`)
  const drained = server.drain()
  client.close()
  await drained
  t.equal(server.state, 'stopped')
  t.same(server.sessions[0]?.events, ['gone'], 'a session that ends by itself is not notified')
})

for (const [what, lbDelayMs] of [
  ['while the load balancer notices', 60_000],
  ['in the grace', 0],
] as const)
  t.test(`stop ${what}`, async (t) => {
    const server = await serve({ session: polite, options: { drain: { lbDelayMs, graceMs: 60_000 } } })
    const client = await open(`${server.wsUrl}/v1/talk`)
    const end = Promise.all([nextText(client), closing(client)])
    const drained = server.drain()
    await new Promise((resolve) => setTimeout(resolve, 300))
    await server.stop()
    await drained
    t.same(await end, [goodbye, { code: 1012, reason: 'bye' }], 'sessions have their last words all the same')
  })

t.test('stop', async (t) => {
  const server = await serve()
  const client = await open(`${server.wsUrl}/v1/talk`)
  // The client is sending: a reset would take the close frame with it.
  const speech = setInterval(() => client.send(Buffer.alloc(640)), 1)
  const end = closing(client)
  await server.stop()
  clearInterval(speech)
  t.same(await end, { code: 1012, reason: 'service restart' })
  t.same(server.sessions[0]?.events.at(-1), 'gone')
})

t.test('an upgrade that is admitted after the server has stopped', async (t) => {
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

/** Lets what the clock has begun go on to its next wait. */
const turns = () => new Promise((resolve) => setTimeout(resolve, 20))
