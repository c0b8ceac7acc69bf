import t, { type Test } from 'tap'
import type { WarmOutcome, WarmRules } from '../../providers/wire/socket.ts'
import { createSocketTransport } from '../../providers/wire/socket-transport.ts'
import { outboundDefaults, type WarmSockets } from '../../runtime/outbound/limits.ts'
import type { OutboundSocket } from '../../runtime/outbound/socket.ts'
import { systemClock } from '../../runtime/timing/clock.ts'
import { TestClock } from '../clock.ts'
import { delay, failure, StubSocket, transcript, until } from './stub-socket.ts'

const never = new AbortController().signal
const route = { path: '/v1/listen?model=nova' }
const silent: WarmRules = { keepAlive: null, idleMsMax: 8000 }

type Changes = { rules?: WarmRules; warm?: Partial<WarmSockets>; real?: true }

async function setup(t: Test, { rules = silent, warm = {}, real }: Changes = {}) {
  const stub = await StubSocket.start()
  const clock = new TestClock()
  const outcomes: WarmOutcome[] = []
  const sockets = createSocketTransport({
    baseUrl: stub.url,
    wire: { sign: (key) => ['authorization', key], classify: () => null },
    limits: { ...outboundDefaults, warmSockets: { perRoute: 2, socketsMax: 8, routeMs: 60_000, ...warm } },
    clock: real ? systemClock : clock,
    warm: rules,
    observeWarm: (outcome) => outcomes.push(outcome),
  })
  const lent: OutboundSocket[] = []
  t.teardown(async () => {
    for (const socket of lent) socket.close()
    await sockets.close()
    await until(() => stub.open === 0, 'the end of all connections')
    await stub.close()
    if (clock.timers > 0) throw new Error('a timer is left')
  })
  const open = async (to: { path: string } = route, key: string | null = 'key') => {
    const socket = await sockets.open(key, to, never)
    lent.push(socket)
    return socket
  }
  /** Resolves once the stub has accepted this many upgrades and the sockets are ready here. */
  const accepted = async (count: number) => {
    await until(() => stub.accepted.length >= count, `socket ${count}`)
    await delay(20)
  }
  return { stub, clock, sockets, open, accepted, outcomes }
}

/** Sends a question on the socket, and resolves with all events until the answer. */
async function ask(socket: OutboundSocket, question: string) {
  const received = transcript()
  socket.listen(received)
  socket.send(question)
  await until(() => received.lines.some((line) => line === question || line.startsWith('closed')))
  return received.lines
}

t.test('a warm socket is ready at once, and a cold socket after its handshake', async (t) => {
  const { stub, open, accepted, outcomes } = await setup(t, { real: true })
  // The duration of each handshake is measured, because timers are late on a busy machine.
  const handshakesMs: number[] = []
  stub.upgrade = ({ accept }) => {
    const started = performance.now()
    setTimeout(() => {
      handshakesMs.push(performance.now() - started)
      accept()
    }, 150)
  }
  const timed = async (to = route) => {
    const started = performance.now()
    await open(to)
    return performance.now() - started
  }
  const cold: number[] = []
  for (let i = 0; i < 5; i++) {
    cold.push((await timed({ path: `/v1/speak?voice=${i}` })) - (handshakesMs.at(-1) as number))
    await accepted(2 * (i + 1))
  }
  t.ok(median(cold) < 20, `cold: ${median(cold).toFixed(1)} ms more than the handshake`)
  await timed()
  const warm: number[] = []
  for (let i = 0; i < 11; i++) {
    // Each earlier route has one warm socket. The current route has one after its first use, and two from its second
    // use on.
    await accepted(12 + i + Math.min(i, 1))
    warm.push(await timed())
  }
  t.ok(median(warm) < 20, `warm: ${median(warm).toFixed(2)} ms`)
  t.same(outcomes.slice(5), ['miss', ...warm.map(() => 'hit')])
})

t.test('each route and provider key has separate warm sockets, as many as were recently used', async (t) => {
  const { stub, clock, open, accepted, outcomes } = await setup(t)
  await open()
  await accepted(2)
  t.equal(stub.asked.length, 2, 'one use, one that waits')
  await open()
  await accepted(4)
  t.equal(stub.asked.length, 4, 'two uses, two that wait')
  t.same(outcomes, ['miss', 'hit'])
  await open(route, 'another organization')
  await open({ path: '/v1/listen?model=flux' })
  t.same(outcomes.splice(0), ['miss', 'hit', 'miss', 'miss'])
  t.equal(stub.asked.at(-1)?.url, '/v1/listen?model=flux')
  await accepted(8)
  t.same(stub.asked.filter(({ headers }) => headers.authorization === 'another organization').length, 2)

  await clock.advance(30_000)
  await open()
  await clock.advance(30_000)
  await until(() => stub.open === 4 + 1 + 1, 'one for the one use that was lately')
  await clock.advance(60_000)
  await until(() => stub.open === 5, 'routes that nobody uses are forgotten')
})

t.test('a warm socket waits no longer than the vendor allows', async (t) => {
  const keepAlive = { text: '{"type":"KeepAlive"}', everyMs: 3000 }
  const { stub, clock, open, accepted, outcomes } = await setup(t, { rules: { keepAlive, idleMsMax: 20_000 } })
  const first = await open()
  await accepted(2)
  t.equal(clock.timers, 1, 'one timer for all')
  for (let i = 0; i < 12; i++) await clock.advance(1000)
  await until(() => stub.received[1]?.length === 4)
  t.same(stub.received, [[], Array.from({ length: 4 }, () => keepAlive.text)], 'not to one that is used')
  for (let i = 0; i < 8; i++) {
    await clock.advance(1000)
    await delay(5)
  }
  t.equal(stub.asked.length, 3, 'the successor is opened before the old one goes')
  await until(() => stub.open === 2, 'the end of the old one')
  t.equal(clock.timers, 1)
  t.ok(first.isOpen)
  await open()
  t.same(outcomes, ['miss', 'hit'])
})

t.test('there are no warm sockets if the vendor bills idle sockets, or if warm sockets are off', async (t) => {
  for (const changes of [{ rules: { keepAlive: null, idleMsMax: 0 } }, { warm: { perRoute: 0 } }]) {
    const { stub, clock, open, outcomes } = await setup(t, changes)
    await open()
    await open()
    await delay(30)
    t.equal(stub.asked.length, 2)
    t.same(outcomes, [])
    t.equal(clock.timers, 0)
  }
})

t.test('a socket that closes while it waits is dropped and replaced', async (t) => {
  const { stub, clock, open, accepted, outcomes } = await setup(t)
  await open()
  await accepted(2)
  await clock.advance(1000)
  stub.accepted[1]?.close(1011, 'NET-0001')
  await accepted(3)
  t.same(await ask(await open(), 'hello'), ['hello'])
  t.same(outcomes, ['miss', 'stale', 'hit'])
  t.same(stub.received[2], ['hello'])
})

t.test('a socket that has closed before its first use does not fail the request', async (t) => {
  const { stub, open, accepted, outcomes } = await setup(t)
  await open()
  await accepted(2)
  const socket = await open()
  const received = transcript()
  socket.listen(received)
  // The server closes the socket while the client's message is on its way.
  stub.accepted[1]?.terminate()
  const lent = Buffer.from('audio')
  socket.send('config')
  socket.send(lent)
  lent.fill(0)
  await until(() => outcomes.includes('stale'))
  t.ok(socket.isOpen)
  socket.send('said meanwhile')
  await until(() => received.lines.length === 3)
  t.same(received.lines, ['config', '5 bytes', 'said meanwhile'])
  t.same(outcomes, ['miss', 'hit', 'stale'])
  stub.accepted.at(-1)?.close(4000, 'the real end')
  t.equal(await received.done, 'closed 4000 the real end')
})

t.test('a warm socket that closed before use is replaced, but a close after a message is reported', async (t) => {
  const { stub, open, accepted, outcomes } = await setup(t)
  await open()
  await accepted(2)
  const unused = await open()
  stub.accepted[1]?.close(1000)
  await until(() => outcomes.includes('stale'))
  t.same(await ask(unused, 'hello'), ['hello'])

  stub.answer = (ws, data) => ws.close(4001, `no ${data.toString()}`)
  await accepted(stub.asked.length)
  const refused = await open()
  t.same(await ask(refused, 'credit'), ['closed 4001 no credit'], 'what a new socket says is what counts')
  t.equal(stub.received.flat().filter((text) => text === 'credit').length, 2)
})

t.test('if a warm socket closes after an answer, its messages are not sent again', async (t) => {
  const { stub, open, accepted, outcomes } = await setup(t)
  await open()
  await accepted(2)
  const socket = await open()
  const received = transcript()
  socket.listen(received)
  socket.send('one')
  await until(() => received.lines.length === 1)
  stub.accepted[1]?.terminate()
  t.equal(await received.done, 'closed 1006')
  t.notOk(socket.isOpen)

  stub.answer = () => {}
  await accepted(stub.asked.length)
  const long = await open()
  const ofLong = transcript()
  long.listen(ofLong)
  for (let i = 0; i < 10; i++) long.send(Buffer.alloc(10_000))
  await until(() => stub.received.some((lines) => lines.length === 10))
  stub.accepted[stub.received.findIndex((lines) => lines.length === 10)]?.terminate()
  t.equal(await ofLong.done, 'closed 1006', 'nor what was taken for a while')
  t.notOk(outcomes.includes('stale'))
})

t.test('a closed warm socket is reported as closed if the vendor cannot be reached again', async (t) => {
  const { stub, open, accepted } = await setup(t)
  await open()
  await accepted(2)
  const socket = await open()
  await accepted(stub.asked.length)
  stub.upgrade = ({ socket }) => socket.destroy()
  stub.accepted[1]?.terminate()
  t.same(await ask(socket, 'hello'), ['closed 1006'])
  t.notOk(socket.isOpen)
  const closing = await open()
  closing.close()
})

t.test("a vendor's first frame is buffered until a listener is set, and does not count as an answer", async (t) => {
  const { stub, open, accepted } = await setup(t)
  stub.greeting = ['{"type":"session_started"}']
  await open()
  await accepted(2)
  const socket = await open()
  const received = transcript()
  socket.listen(received)
  socket.send('hello')
  stub.accepted[1]?.terminate()
  await until(() => received.lines.includes('hello'))
  t.same(received.lines, [...stub.greeting, ...stub.greeting, 'hello'])
})

t.test('closing the pool while it opens a new socket leaves no connection', async (t) => {
  const { stub, open, accepted, outcomes } = await setup(t)
  await open()
  await accepted(2)
  const socket = await open()
  await accepted(stub.asked.length)
  stub.upgrade = () => {}
  const received = transcript()
  socket.listen(received)
  stub.accepted[1]?.terminate()
  const asked = stub.asked.length
  await until(() => stub.asked.length > asked)
  t.ok(outcomes.includes('stale'))
  socket.close()
  await delay(20)
  t.same(received.lines, [])
})

t.test('warm sockets are limited over all routes, and the most recently used routes get them', async (t) => {
  const { stub, open, accepted, sockets } = await setup(t, { warm: { socketsMax: 3 } })
  for (let i = 0; i < 6; i++) {
    await open({ path: `/${i}` })
    await accepted(2 * (i + 1))
  }
  await until(() => stub.open === 6 + 3, 'no more than three that wait')
  const [, last] = [await open({ path: '/0' }), await open({ path: '/5' })]
  t.ok(last.isOpen)
  await delay(20)
  t.ok(stub.open <= 6 + 2 + 3)
  await sockets.close()
  await until(() => stub.open === 8, 'those that wait are closed, those in use are not')
  await open({ path: '/5' })
  await delay(20)
  t.equal(stub.open, 9, 'no further socket is opened ahead')
})

t.test('while a vendor refuses connections, few warm sockets are attempted without a request', async (t) => {
  const { stub, clock, open, accepted } = await setup(t)
  const refuse = () => {
    stub.upgrade = ({ socket }) => socket.end('HTTP/1.1 401 No\r\ncontent-length: 0\r\n\r\n')
  }
  refuse()
  t.match(await failure(open()), { errorClass: 'auth' })
  await delay(20)
  t.equal(stub.asked.length, 1)
  stub.upgrade = ({ accept }) => accept()
  await open()
  await accepted(2)
  await clock.advance(1000)
  refuse()
  const before = stub.asked.length
  for (const socket of stub.accepted.slice(1)) socket.terminate()
  for (let i = 0; i < 10; i++) {
    await clock.advance(1000)
    await delay(5)
  }
  const tried = stub.asked.length - before
  t.ok(tried >= 1 && tried <= 3, `${tried} attempts`)
})

t.test(
  'if a vendor accepts sockets and then closes them, each request causes one further attempt to connect',
  async (t) => {
    const { stub, open } = await setup(t)
    const accept: typeof stub.upgrade = ({ accept }) => {
      accept()
      stub.accepted.at(-1)?.close(4001, 'unknown key')
    }
    stub.upgrade = accept
    for (let i = 1; i <= 3; i++) {
      await open()
      await until(() => stub.asked.length >= 2 * i, 'one more attempt')
      await delay(40)
      t.equal(stub.asked.length, 2 * i)
    }
  },
)

t.test('a pool can be closed while it opens warm sockets', async (t) => {
  const { stub, open, accepted, sockets } = await setup(t)
  await open()
  await accepted(2)
  stub.upgrade = () => {}
  await open()
  await until(() => stub.asked.length === 4)
  await sockets.close()
})

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] as number
}
