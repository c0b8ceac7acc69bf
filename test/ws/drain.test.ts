import t from 'tap'
import { until } from '../http/harness.ts'
import { closing, nextText, open, protocol, Recorder, refused, serve } from './harness.ts'

t.test('drain', async (t) => {
  const server = await serve({
    options: { drain: { lbDelayMs: 100, graceMs: 200 } },
    session: (socket, context) => {
      const made = new Recorder(socket, context)
      if (context.query.has('polite')) {
        made.onShutdown = () => {
          socket.send('{"type":"said","text":"SHUTTING_DOWN"}')
          socket.close(1012, 'bye')
        }
      }
      return made
    },
  })
  const polite = await open(`${server.wsUrl}/v1/talk?polite`)
  const stubborn = await open(`${server.wsUrl}/v1/talk`)
  const ends = Promise.all([nextText(polite), closing(polite), closing(stubborn)])
  const startedMs = performance.now()
  const drained = server.drain()
  t.match(await refused(`${server.wsUrl}/v1/talk`), { status: 503, body: { kind: 'overloaded' } })
  const [text, politeEnd, stubbornEnd] = await ends
  t.match(text, /SHUTTING_DOWN/)
  t.same(politeEnd, { code: 1012, reason: 'bye' })
  t.same(stubbornEnd, { code: 1012, reason: 'service restart' })
  t.ok(performance.now() - startedMs >= 290, 'the stubborn one had its grace')
  await drained
  t.same(server.sessions[1]?.events, ['shutdown', 'gone'])
  t.equal(server.sockets(), 0)
  t.equal(server.state, 'stopped')
})

t.test('drain does not wait without open sockets', async (t) => {
  const server = await serve({ options: { drain: { lbDelayMs: 0, graceMs: 60_000 } } })
  const client = await open(`${server.wsUrl}/v1/talk`)
  const drained = server.drain()
  await until(() => server.sessions[0]?.events.includes('shutdown') === true)
  client.close()
  await drained
  t.equal(server.state, 'stopped')
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

t.test('an upgrade that is admitted while the server begins to drain', async (t) => {
  let admitted = () => {}
  const server = await serve({ mount: { admit: () => new Promise<void>((resolve) => (admitted = resolve)) } })
  const answer = refused(`${server.wsUrl}/v1/talk`, protocol)
  await until(() => server.inflight() === 1)
  const drained = server.drain()
  admitted()
  t.match(await answer, { status: 503 })
  await drained
  t.equal(server.sessions.length, 0)
})
