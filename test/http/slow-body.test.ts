/**
 * A body must not arrive more slowly than the lowest allowed speed. It may pause, and a new connection may be slow at
 * first.
 */
import net from 'node:net'
import t, { type Test } from 'tap'
import type { Bytes } from '../../runtime/engine/handler.ts'
import { TestClock } from '../clock.ts'
import { overEngines } from '../engine/engines.ts'
import { wholeProcess } from '../time/quiet.ts'
import { jsonBody, mount, operation, start, surface, until } from './harness.ts'

const take = operation('take', 'post', '/v1/take', {
  body: { ...jsonBody, types: ['application/octet-stream'], limit: 'audio' },
})
const limits = { bodyTimeoutMs: 30_000, uploadBodyTimeoutMs: 600_000, bodyBytesPerSMin: 1024 }
const kilobyte = Buffer.alloc(1024, 1)

overEngines(t, (t) => {
  t.test('a request body below the lowest speed is refused', async (t) => {
    const clock = new TestClock({ quiet: wholeProcess })
    const handlers = { take: ({ body }: { body: unknown }) => ({ status: 200, body: (body as Bytes).bytes }) }
    const server = await start([mount(surface('main', take), handlers)], { clock, uploadPort: 0, limits })
    t.teardown(() => clock.during(server.stop()))
    await t.test('the main port refuses a slow body', (t) => suite(t, clock, server.port))
    await t.test('the upload port refuses a slow body', (t) => suite(t, clock, server.uploadPort as number))
    await until(() => server.inflight() === 0)
  })
})

async function suite(t: Test, clock: TestClock, port: number): Promise<void> {
  await t.test('a body of two bytes a second is refused soon after its start', async (t) => {
    const body = await begin(clock, port, 1000)
    const startedMs = clock.monotonicMs()
    while (body.text === '' && clock.monotonicMs() - startedMs < 60_000) await body.send(Buffer.alloc(2), 1000)
    t.match(body.text, /^HTTP\/1.1 408[\s\S]*the body did not arrive in time/)
    const tookMs = clock.monotonicMs() - startedMs
    t.ok(tookMs > 10_000 && tookMs <= 13_000, `after ${tookMs} ms`)
    await until(() => body.isClosed)
  })

  await t.test('a request body at the lowest speed is accepted', async (t) => {
    const body = await begin(clock, port, 40 * kilobyte.length)
    for (let i = 0; i < 40; i++) await body.send(kilobyte, 1000)
    t.match(body.text, /^HTTP\/1.1 200[\s\S]*40960$/)
    body.socket.destroy()
  })

  await t.test('a request body may begin 9 s after its headers', async (t) => {
    const body = await begin(clock, port, 2)
    await clock.advance(9000)
    await body.send('{}', 0)
    t.match(body.text, /^HTTP\/1.1 200/)
    body.socket.destroy()
  })

  await t.test('a fast body may pause for bodyTimeoutMs, and not for longer', async (t) => {
    const fast = Buffer.alloc(100 * kilobyte.length)
    for (const [pauseMs, status] of [
      [29_000, 200],
      [33_000, 408],
    ] as const) {
      const body = await begin(clock, port, fast.length + 2)
      await body.send(fast, pauseMs)
      if (body.text === '') await body.send('{}', 0)
      t.match(body.text, new RegExp(`^HTTP/1.1 ${status}`), `a pause of ${pauseMs} ms`)
      body.socket.destroy()
    }
  })

  await t.test('a body is not refused because the event loop was busy', async (t) => {
    const body = await begin(clock, port, 2)
    body.socket.write('{}')
    clock.pass(60_000)
    await clock.advance(0)
    t.match(body.text, /^HTTP\/1.1 200/)
    body.socket.destroy()
  })
}

type Body = {
  socket: net.Socket
  text: string
  isClosed: boolean
  send(piece: string | Buffer, thenMs: number): Promise<void>
}

/** Sends the head of a request whose body has this many bytes. */
async function begin(clock: TestClock, port: number, bytes: number): Promise<Body> {
  const socket = net.connect(port, '127.0.0.1').on('error', () => {})
  const body: Body = {
    socket,
    text: '',
    isClosed: false,
    send(piece, thenMs) {
      socket.write(piece)
      return clock.advance(thenMs)
    },
  }
  socket.on('data', (chunk) => (body.text += chunk.toString()))
  socket.on('close', () => (body.isClosed = true))
  socket.write(
    `POST /v1/take HTTP/1.1\r\nHost: a\r\nContent-Type: application/octet-stream\r\nContent-Length: ${bytes}\r\n\r\n`,
  )
  await clock.advance(0)
  return body
}
