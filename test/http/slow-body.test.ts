/**
 * A body must not arrive more slowly than the lowest allowed speed. It may pause, and a new connection may be slow at
 * first. The engine uws requires a higher speed on the server's main TCP port, because uWebSockets.js would cut a
 * slower body without an answer.
 */
import net from 'node:net'
import t, { type Test } from 'tap'
import type { Bytes } from '../../runtime/engine/handler.ts'
import type { EngineName } from '../../runtime/engine/options.ts'
import { TestClock } from '../clock.ts'
import { overEngines } from '../engine/engines.ts'
import { wholeProcess } from '../time/quiet.ts'
import { jsonBody, mount, operation, start, surface, until } from './harness.ts'

const take = operation('take', 'post', '/v1/take', {
  body: { ...jsonBody, types: ['application/octet-stream'], limit: 'audio' },
})
const limits = { bodyTimeoutMs: 30_000, uploadBodyTimeoutMs: 600_000, bodyBytesPerSMin: 1024 }
const kilobyte = Buffer.alloc(1024, 1)

type Limits = { startMs: number; pauseMs: number; bytesPerS: number }
const usual: Limits = { startMs: 10_000, pauseMs: limits.bodyTimeoutMs, bytesPerS: limits.bodyBytesPerSMin }
const mainPort: Record<EngineName, Limits> = {
  node: usual,
  uws: { startMs: 7000, pauseMs: 7000, bytesPerS: 16 * kilobyte.length },
}

overEngines(t, (t, engine) => {
  t.test('a request body below the lowest speed is refused', async (t) => {
    const clock = new TestClock({ quiet: wholeProcess })
    const handlers = { take: ({ body }: { body: unknown }) => ({ status: 200, body: (body as Bytes).bytes }) }
    const server = await start([mount(surface('main', take), handlers)], { clock, uploadPort: 0, limits })
    t.teardown(() => clock.during(server.stop()))
    await t.test("the server's main TCP port refuses a slow body", (t) =>
      suite(t, clock, server.port, mainPort[engine]),
    )
    await t.test('the TCP port for uploads refuses a slow body', (t) =>
      suite(t, clock, server.uploadPort as number, usual),
    )
    await until(() => server.inflight() === 0)
  })
})

async function suite(t: Test, clock: TestClock, port: number, allowed: Limits): Promise<void> {
  const { startMs, pauseMs, bytesPerS } = allowed

  await t.test('a body of two bytes a second is refused soon after its start', async (t) => {
    const body = await begin(clock, port, 1000)
    const startedMs = clock.monotonicMs()
    while (body.text === '' && clock.monotonicMs() - startedMs < 60_000) await body.send(Buffer.alloc(2), 1000)
    t.match(body.text, /^HTTP\/1.1 408[\s\S]*the body did not arrive in time/)
    const tookMs = clock.monotonicMs() - startedMs
    t.ok(tookMs > startMs && tookMs <= startMs + 1000, `after ${tookMs} ms`)
    await until(() => body.isClosed)
  })

  await t.test('a request body at the lowest speed is accepted', async (t) => {
    const second = Buffer.alloc(bytesPerS, 1)
    const body = await begin(clock, port, 40 * second.length)
    for (let i = 0; i < 40; i++) await body.send(second, 1000)
    t.match(body.text, new RegExp(`^HTTP/1.1 200[\\s\\S]*${40 * bytesPerS}$`))
    body.socket.destroy()
  })

  await t.test('a request body that begins a second before the limit for its first bytes is accepted', async (t) => {
    const body = await begin(clock, port, 2)
    await clock.advance(startMs - 1000)
    await body.send('{}', 0)
    t.match(body.text, /^HTTP\/1.1 200/)
    body.socket.destroy()
  })

  await t.test('a fast body may pause for the longest pause, and not for longer', async (t) => {
    const fast = Buffer.alloc(40 * bytesPerS)
    for (const [pausedMs, status] of [
      [pauseMs - 1000, 200],
      [pauseMs + 1000, 408],
    ] as const) {
      const body = await begin(clock, port, fast.length + 2)
      await body.send(fast, pausedMs)
      if (body.text === '') await body.send('{}', 0)
      t.match(body.text, new RegExp(`^HTTP/1.1 ${status}`), `a pause of ${pausedMs} ms`)
      body.socket.destroy()
    }
  })

  await t.test('a busy event loop does not make a body count as slow, so the body is accepted', async (t) => {
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
