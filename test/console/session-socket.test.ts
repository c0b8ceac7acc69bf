/** The browser client reconnects its media channel's socket after a loss, and gives up when it must. */
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import WebSocket from 'ws'
import { SessionSocket } from '../../console/session/session-socket.js'
import { ResourceFault } from '../../domain/records/resource-fault.ts'
import { until } from '../process/machine.ts'
import { address, type Served, serve } from '../session/media-harness.ts'

function connect({ server, token }: Served, more: object = {}) {
  const events: unknown[][] = []
  let nowMs = 0
  const retries: number[] = []
  const sockets: WebSocket[] = []
  const note = (name: string) => (argument?: unknown) =>
    void events.push(argument === undefined ? [name] : [name, argument])
  class Dialled extends WebSocket {
    constructor(url: string, protocols: string[]) {
      super(url, protocols)
      this.on('error', () => {})
      sockets.push(this)
    }
  }
  const socket: SessionSocket = new SessionSocket({
    url: server.url.replace('http', 'ws') + address,
    token,
    WebSocket: Dialled,
    nowMs: () => nowMs,
    after: (ms, run) => {
      retries.push(ms)
      nowMs += ms
      const timer = setTimeout(run, 5)
      return () => clearTimeout(timer)
    },
    on: {
      ready: note('ready'),
      frame: note('frame'),
      audio: note('audio'),
      lost: () => void events.push(['lost', socket.send({ type: 'ping' })]),
      over: note('over'),
    },
    ...more,
  })
  const seen = async (name: string, count = 1) => {
    const named = () => events.filter(([each]) => each === name)
    await until(`${count} × ${name}`, () => named().length >= count)
    return named().at(-1)?.[1]
  }
  return { socket, sockets, events, retries, seen }
}

t.test('a lost socket of a session is opened again with the same token', async (t) => {
  const served = await serve(t)
  const { socket, sockets, seen, retries } = connect(served)
  t.match(await seen('ready'), { resumed: false })
  t.ok(socket.isLive)
  for (const count of [1, 2]) {
    sockets.at(-1)?.terminate()
    t.equal(await seen('lost', count), false, 'nothing can be sent then')
    t.match(await seen('ready', count + 1), { resumed: true })
  }
  t.same(retries, [250, 250])
  t.equal(socket.send({ type: 'end' }), true)
  t.same(await seen('over'), { reason: 'user_hangup', error: null })
  t.notOk(socket.isLive)
})

t.test('opening a lost socket is tried for 20 s, with growing delays', async (t) => {
  const served = await serve(t)
  const { sockets, seen, retries } = connect(served)
  await seen('ready')
  served.sessions.refusal = new ResourceFault({ kind: 'call_not_live' })
  sockets.at(-1)?.terminate()
  t.same(await seen('over'), { reason: null, error: null })
  t.same(retries, [250, 500, 1000, 2000, 4000, 4000, 4000, 4000, 4000])
})

t.test('if another page takes over the session, the first page does not take it back', async (t) => {
  const served = await serve(t)
  const first = connect(served)
  await first.seen('ready')
  const second = connect(served)
  await second.seen('ready')
  t.match(await first.seen('over'), { reason: null, error: { code: 'REPLACED' } })
  t.same(first.retries, [])
  t.ok(second.socket.isLive)
  second.socket.close()
  t.same(await second.seen('over'), { reason: null, error: null })
})

t.test('if the first socket of a session is refused, the session ends', async (t) => {
  const served = await serve(t)
  served.lives.clear()
  const { seen, retries } = connect(served)
  t.same(await seen('over'), { reason: null, error: null })
  t.same(retries, [])
})

t.test('overrides are sent once, as the first frame', async (t) => {
  const served = await serve(t)
  served.sessions.seat = { clientOverrides: ['speed'] }
  const first = { type: 'overrides', overrides: { tts: { speed: 1.5 } } }
  const { sockets, seen, events } = connect(served, { first })
  await seen('ready')
  sockets.at(-1)?.terminate()
  await seen('ready', 2)
  await sleep(50)
  t.same(served.sessions.overrides, [{ speed: 1.5 }, {}])
  t.same(
    events.filter(([name]) => name === 'frame').map(([, frame]) => (frame as { type: string }).type),
    ['state'],
  )
})

t.test('if a session fails, the page shows the reason', async (t) => {
  const served = await serve(t)
  const { seen } = connect(served)
  await seen('ready')
  served.sessions.sink?.transport.close('credit_exhausted', 'budget_exhausted')
  t.match(await seen('over'), { reason: 'credit_exhausted', error: { code: 'BUDGET_EXHAUSTED' } })
})
