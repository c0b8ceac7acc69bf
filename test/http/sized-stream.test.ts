/** If an answer is sent in pieces and its length is known, it has a Content-Length. */
import net from 'node:net'
import t, { type Test } from 'tap'
import { TestClock } from '../clock.ts'
import { overEngines } from '../engine/engines.ts'
import { mount, operation, raw, type Served, start, surface, until } from './harness.ts'

const mib = 1_048_576
const octets = { '200': { types: ['application/octet-stream'], headers: ['Content-Length'] } }
const seen = { produced: 0, isReturned: false }

async function* pieces(count: number, bytes: number): AsyncGenerator<Uint8Array> {
  seen.produced = 0
  seen.isReturned = false
  try {
    for (let at = 0; at < count; at++) {
      await Promise.resolve()
      seen.produced++
      yield Buffer.alloc(bytes, at)
    }
  } finally {
    seen.isReturned = true
  }
}

const sized = (length: number, body: AsyncIterable<Uint8Array>) => {
  return { status: 200, headers: { 'Content-Length': length }, body }
}
const operations = ['large', 'small', 'short', 'long'].map((id) =>
  operation(id, 'get', `/v1/${id}`, { responses: octets }),
)
const handlers = {
  large: () => sized(64 * mib, pieces(1024, 65_536)),
  small: () => sized(3, pieces(3, 1)),
  short: () => sized(2000, pieces(1, 1000)),
  long: () => sized(1000, pieces(3, 700)),
}
const mounts = [mount(surface('main', ...operations), handlers)]

overEngines(t, (t) => {
  function onBoth(name: string, test: (t: Test, port: number, server: Served) => Promise<void>) {
    t.test(name, async (t) => {
      const server = await start(mounts, { uploadPort: 0 })
      t.teardown(() => server.stop())
      await t.test("the server's main TCP port sends a stream with its Content-Length", (t) =>
        test(t, server.port, server),
      )
      await t.test('the TCP port for uploads sends a stream with its Content-Length', (t) =>
        test(t, server.uploadPort as number, server),
      )
      await until(() => server.inflight() === 0)
    })
  }

  const request = (path: string, more = '', method = 'GET') => `${method} ${path} HTTP/1.1\r\nHost: a\r\n${more}\r\n`

  onBoth('the answer has a Content-Length, and the connection serves the next request', async (t, port) => {
    const answer = await fetch(`http://127.0.0.1:${port}/v1/large`)
    t.equal(answer.headers.get('content-length'), String(64 * mib))
    t.equal(answer.headers.get('transfer-encoding'), null)
    const body = new Uint8Array(await answer.arrayBuffer())
    t.equal(body.length, 64 * mib)
    const isWrong = (_: unknown, at: number) =>
      body[at * 65_536] !== at % 256 || body[at * 65_536 + 65_535] !== at % 256
    t.equal(Array.from({ length: 1024 }).findIndex(isWrong), -1, 'each byte is in its place')
    const socket = net.connect(port, '127.0.0.1')
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
    })
    for (const answers of [1, 2, 3]) {
      socket.write(request('/v1/small'))
      await until(() => text.split('\r\n\r\n\x00\x01\x02').length === answers + 1)
    }
    t.equal(text.match(/Content-Length: 3\r\n/gi)?.length, 3)
    socket.destroy()
  })

  onBoth("the answer to HEAD has the stream's Content-Length, and the stream is not read", async (t, port) => {
    seen.produced = 0
    const { text } = await raw(port, request('/v1/large', '', 'HEAD') + request('/v1/small'))
    t.match(text, /^HTTP\/1.1 200 OK\r\n(?:.+\r\n)*?Content-Length: 67108864\r\n(?:.+\r\n)*\r\nHTTP\/1.1 200 OK/i)
    t.equal(seen.produced, 3, 'of the second answer alone')
  })

  onBoth('an answer with Connection: close has a Content-Length too', async (t, port) => {
    const { text, isClosed } = await raw(port, request('/v1/small', 'Connection: close\r\n'), 2000)
    t.match(text, /Content-Length: 3\r\n(?:.+\r\n)*\r\n\x00\x01\x02$/i)
    t.ok(isClosed)
  })

  onBoth('a GET with a body is answered whole', async (t, port) => {
    for (const body of ['Content-Length: 2\r\n\r\nab', 'Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n']) {
      const { text } = await raw(port, `GET /v1/small HTTP/1.1\r\nHost: a\r\n${body}`, 1000)
      t.match(text, /^HTTP\/1.1 200 OK[^]*\r\n\r\n[^]*\x00[^]*\x01[^]*\x02/)
    }
  })

  onBoth('an answer whose stream differs from its declared length does not look complete', async (t, port, server) => {
    const short = await raw(port, request('/v1/short'), 3000)
    t.ok(short.isClosed)
    t.ok((short.text.split('\r\n\r\n')[1]?.length ?? 0) < 2000)
    const long = await raw(port, request('/v1/long'), 3000)
    t.ok(long.isClosed)
    t.ok((long.text.split('\r\n\r\n')[1]?.length ?? 0) < 1000)
    t.match(server.errors.splice(0), [/1000 bytes before its length/, /longer than its length/])
  })

  onBoth('a client that reads slowly slows the stream, and gets all of it', async (t, port, server) => {
    const socket = net.connect(port, '127.0.0.1')
    socket.pause()
    socket.write(request('/v1/large', 'Connection: close\r\n'))
    await until(() => seen.produced > 0)
    for (let before = -1; before !== seen.produced; ) {
      before = seen.produced
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    t.ok(seen.produced < 400, `${seen.produced} chunks made for a client that took none`)
    let bytes = 0
    let head = 0
    socket.on('data', (chunk: Buffer) => {
      if (bytes === 0) head = chunk.indexOf('\r\n\r\n') + 4
      bytes += chunk.length
    })
    const closed = new Promise((resolve) => socket.once('close', resolve))
    socket.resume()
    await closed
    t.equal(bytes - head, 64 * mib)
    await until(() => server.inflight() === 0)
  })

  t.test('a stream of known length ends if its client leaves or reads nothing for too long', async (t) => {
    const clock = new TestClock()
    const server = await start(mounts, { clock, uploadPort: 0, limits: { readerTimeoutMs: 60_000 } })
    t.teardown(() => server.stop())
    for (const port of [server.port, server.uploadPort as number]) {
      const reader = new AbortController()
      const answer = await fetch(`http://127.0.0.1:${port}/v1/large`, { signal: reader.signal })
      await answer.body?.getReader().read()
      reader.abort()
      await until(() => seen.isReturned && server.inflight() === 0)
      const socket = net.connect(port, '127.0.0.1')
      socket.on('error', () => {})
      socket.pause()
      socket.write(request('/v1/large'))
      await until(() => clock.timers > 0)
      for (let i = 0; i < 14; i++) clock.pass(4000)
      t.equal(server.inflight(), 1)
      for (let i = 0; i < 2; i++) clock.pass(4000)
      await until(() => server.inflight() === 0)
      t.equal(clock.timers, 0, 'no timer stays behind')
      t.ok(seen.isReturned)
      socket.destroy()
    }
  })
})
