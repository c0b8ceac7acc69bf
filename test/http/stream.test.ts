import { once } from 'node:events'
import net from 'node:net'
import t, { type Test } from 'tap'
import type { Context } from '../../runtime/engine/handler.ts'
import { preferredType } from '../../runtime/http/accept.ts'
import { TestClock } from '../clock.ts'
import { overEngines } from '../engine/engines.ts'
import { mount, operation, raw, type Served, start, surface, until } from './harness.ts'

const events = { '200': { types: ['text/event-stream'], headers: [] } }
const data = { '200': { types: ['text/event-stream'], headers: [], eventFormat: 'data' as const } }
const isNumber = (value: unknown) => typeof value === 'number'
const checked = { '200': { types: ['text/event-stream'], headers: [], events: { count: isNumber } } }
const octets = { '200': { types: ['application/octet-stream'], headers: ['X-Rate'] } }

const operations = [
  operation('three', 'get', '/v1/three', { responses: events }),
  operation('unnamed', 'get', '/v1/unnamed', { responses: data }),
  operation('unnamedFails', 'get', '/v1/unnamed-fails', { responses: data }),
  operation('unnamedStartFails', 'get', '/v1/unnamed-start-fails', { responses: data }),
  operation('wrongData', 'get', '/v1/wrong-data', { responses: checked }),
  operation('wrongName', 'get', '/v1/wrong-name', { responses: checked }),
  operation('accepts', 'get', '/v1/accepts'),
  operation('none', 'get', '/v1/none', { responses: events }),
  operation('startFails', 'get', '/v1/start-fails', { responses: events }),
  operation('laterFails', 'get', '/v1/later-fails', { responses: events }),
  operation('waits', 'get', '/v1/waits', { responses: events }),
  operation('floods', 'get', '/v1/floods', { responses: events }),
  operation('bytes', 'get', '/v1/bytes', { responses: octets }),
  operation('list', 'get', '/v1/list', { responses: octets }),
  operation('emptyBytes', 'get', '/v1/empty-bytes', { responses: octets }),
  operation('bytesStartFails', 'get', '/v1/bytes-start-fails', { responses: octets }),
  operation('bytesLaterFail', 'get', '/v1/bytes-later-fail', { responses: octets }),
  operation('large', 'get', '/v1/large', { responses: octets }),
  operation('paced', 'get', '/v1/paced', { responses: octets }),
  operation('whole', 'get', '/v1/whole', { responses: octets }),
]

const mib = 1_048_576
const seen = { produced: 0, isReturned: false, signal: null as Context['signal'] | null, release: () => {} }

async function* counted(chunks: number): AsyncGenerator<Uint8Array> {
  seen.produced = 0
  seen.isReturned = false
  try {
    for (let i = 0; i < chunks; i++) {
      await Promise.resolve()
      seen.produced++
      yield Buffer.alloc(65_536, i)
    }
  } finally {
    seen.isReturned = true
  }
}

/**
 * Yields chunks. Each chunk fills the transport's buffers, and the client has read it long before the next chunk is
 * made.
 */
async function* paced(chunks: number): AsyncGenerator<Uint8Array> {
  for (let i = 0; i < chunks; i++) {
    await new Promise((resolve) => setTimeout(resolve, 20))
    yield Buffer.alloc(262_144, i)
  }
}

async function* failing(first: Uint8Array | { data: unknown } | null): AsyncGenerator<unknown> {
  await Promise.resolve()
  if (first) yield first
  throw new Error('the provider died')
}

/** Makes an iterator that notices only by the signal and by `return` that the client has left. */
function waiting(signal: Context['signal']): AsyncIterable<unknown> {
  seen.signal = signal
  seen.isReturned = false
  let items = 0
  return {
    [Symbol.asyncIterator]: () => ({
      next: () =>
        items++ === 0
          ? Promise.resolve({ done: false, value: { data: 'first' } })
          : new Promise((resolve) => {
              seen.release = () => resolve({ done: true, value: undefined })
            }),
      return: () => {
        seen.isReturned = true
        return Promise.resolve({ done: true as const, value: undefined })
      },
    }),
  }
}

const ok = (body: unknown) => ({ status: 200, body })
const handlers = {
  three: () => ok([{ event: 'delta', data: { text: 'a\nb' } }, { data: 1 }, { data: null, raw: '[DONE]' }]),
  unnamed: () => ok([{ data: { text: 'a' } }, { data: null, raw: '[DONE]' }]),
  unnamedFails: () => ok(failing({ data: 1 })),
  unnamedStartFails: () => ok(failing(null)),
  wrongData: () =>
    ok([
      { event: 'count', data: 1 },
      { event: 'count', data: 'one' },
    ]),
  wrongName: () => ok([{ event: 'sum', data: 1 }]),
  accepts: (_input: unknown, { accept }: Context) =>
    ok([accept, preferredType(accept, ['application/json', 'text/event-stream'])]),
  none: () => ok([]),
  startFails: () => ok(failing(null)),
  laterFails: () => ok(failing({ data: 1 })),
  waits: (_input: unknown, context: Context) => ok(waiting(context.signal)),
  floods: () =>
    ok(
      (async function* () {
        for await (const chunk of counted(2000)) yield { data: Buffer.from(chunk).toString('base64') }
      })(),
    ),
  bytes: () => ({ status: 200, headers: { 'X-Rate': 24_000 }, body: counted(3) }),
  list: () => ok([new Uint8Array(0), Buffer.from('ab'), new Uint8Array(0), Buffer.from('c')]),
  emptyBytes: () => ok([new Uint8Array(0)]),
  bytesStartFails: () => ok(failing(null)),
  bytesLaterFail: () => ok(failing(Buffer.alloc(1000))),
  large: () => ok(counted(1024)),
  paced: () => ok(paced(20)),
  whole: () => ok(new Uint8Array(8 * mib)),
}
const mounts = [mount(surface('main', ...operations), handlers)]

overEngines(t, (t, engine) => {
  function onBoth(name: string, test: (t: Test, url: string, port: number, server: Served) => Promise<void>) {
    t.test(name, async (t) => {
      const server = await start(mounts, { uploadPort: 0 })
      t.teardown(() => server.stop())
      await t.test("the server's main TCP port streams answers", (t) => test(t, server.url, server.port, server))
      await t.test('the TCP port for uploads streams answers', (t) =>
        test(t, server.uploadUrl, server.uploadPort as number, server),
      )
      await until(() => server.inflight() === 0)
    })
  }

  async function get(url: string) {
    const response = await fetch(url)
    return {
      status: response.status,
      type: response.headers.get('content-type'),
      text: await response.text(),
      headers: response.headers,
    }
  }

  onBoth('server-sent events arrive with their names and ids', async (t, url, _port, server) => {
    const three = await get(`${url}/v1/three`)
    t.match(three, { status: 200, type: 'text/event-stream' })
    t.equal(three.text, 'event: delta\nid: 0\ndata: {"text":"a\\nb"}\n\nid: 1\ndata: 1\n\nid: 2\ndata: [DONE]\n\n')
    t.equal(three.headers.get('x-accel-buffering'), 'no', 'nginx passes each event on at once')
    t.match(await get(`${url}/v1/none`), { status: 200, text: '' })
    t.match(await get(`${url}/v1/start-fails`), { status: 500, type: 'application/json', text: /"kind":"internal"/ })
    const later = await get(`${url}/v1/later-fails`)
    t.match(later.text, /^id: 0\ndata: 1\n\nevent: error\nid: 1\ndata: \{"surface":"main","kind":"internal".*\}\n\n$/)
    t.match(server.errors.splice(0), [/died/, /died/])
  })

  onBoth('events that break the contract end the stream while answers are checked', async (t, url, _port, server) => {
    const { text } = await get(`${url}/v1/wrong-data`)
    t.match(
      text,
      /^event: count\nid: 0\ndata: 1\n\nevent: error\nid: 1\ndata: \{"surface":"main","kind":"internal".*\}\n\n$/,
    )
    t.match(await get(`${url}/v1/wrong-name`), { status: 500, type: 'application/json' })
    t.match(server.errors.splice(0), [
      /wrongData: event 'count' is not what/,
      /event 'sum' is not what.*it is not declared/,
    ])
  })

  onBoth('events without a name arrive in the form that chat clients read', async (t, url, _port, server) => {
    t.equal((await get(`${url}/v1/unnamed`)).text, 'data: {"text":"a"}\n\ndata: [DONE]\n\n')
    const failed = await get(`${url}/v1/unnamed-fails`)
    t.match(
      failed.text,
      /^data: 1\n\ndata: \{"surface":"main","kind":"internal".*\}\n\n$/,
      'the failure is the last event',
    )
    t.match(await get(`${url}/v1/unnamed-start-fails`), { status: 500, type: 'application/json' })
    t.match(server.errors.splice(0), { length: 2 })
  })

  onBoth('a stream has the media type that the client prefers', async (t, url) => {
    const cases = {
      'text/event-stream': 'text/event-stream',
      'application/json, text/event-stream': 'application/json',
      'application/json;q=0.5, text/*': 'text/event-stream',
      '*/*': 'application/json',
      'image/png': 'application/json',
      'text/event-stream;q=0': 'application/json',
    }
    for (const [accept, type] of Object.entries(cases)) {
      const response = await fetch(`${url}/v1/accepts`, { headers: { accept } })
      t.strictSame(await response.json(), [accept, type])
    }
  })

  onBoth('a stream of bytes arrives unchanged', async (t, url, port, server) => {
    const bytes = await get(`${url}/v1/bytes`)
    t.equal(bytes.headers.get('x-accel-buffering'), 'no')
    t.notOk(
      (await get(`${url}/v1/whole`)).headers.has('x-accel-buffering'),
      'an answer of known length has its buffers',
    )
    t.equal(bytes.text.length, 3 * 65_536)
    t.equal(bytes.headers.get('x-rate'), '24000')
    t.ok(seen.isReturned)
    t.match(await get(`${url}/v1/list`), { status: 200, text: 'abc' }, 'empty chunks are left out')
    t.match(await get(`${url}/v1/empty-bytes`), { status: 500, type: 'application/json' })
    t.match(await get(`${url}/v1/bytes-start-fails`), { status: 500, type: 'application/json' })
    const broken = await raw(port, 'GET /v1/bytes-later-fail HTTP/1.1\r\nHost: a\r\n\r\n', 2000)
    t.ok(broken.isClosed, 'half an answer ends with the connection')
    t.notMatch(broken.text, /\r\n0\r\n\r\n$/, 'the broken answer does not look complete')
    t.match(server.errors.splice(0), { length: 3 })
    t.equal((await get(`${url}/v1/whole`)).text.length, 8 * mib)

    const head = await raw(port, 'HEAD /v1/large HTTP/1.1\r\nHost: a\r\n\r\nGET /v1/list HTTP/1.1\r\nHost: a\r\n\r\n')
    t.match(
      head.text,
      /^HTTP\/1.1 200 OK\r\n(?![\s\S]*Content-Length)[\s\S]*?\r\n\r\nHTTP\/1.1 200 OK/,
      'HEAD of a stream',
    )
    t.equal(seen.produced, 3, 'no chunk was produced for HEAD')
  })

  onBoth('if the client leaves a stream, the stream is closed', async (t, url, port, server) => {
    const socket = net.connect(port, '127.0.0.1')
    socket.write('GET /v1/waits HTTP/1.1\r\nHost: a\r\n\r\n')
    await new Promise((resolve) => socket.once('data', resolve))
    t.notOk(seen.signal?.aborted)
    socket.destroy()
    await until(() => seen.isReturned)
    t.ok(seen.signal?.aborted)
    await until(() => server.inflight() === 0)
    seen.release()

    const reader = new AbortController()
    const response = await fetch(`${url}/v1/large`, { signal: reader.signal })
    await response.body?.getReader().read()
    reader.abort()
    await until(() => seen.isReturned && server.inflight() === 0)
    t.ok(seen.produced < 1024)
    t.strictSame(server.errors, [])
  })

  onBoth('if the client leaves, later answers on its connection are dropped', async (t, _url, port, server) => {
    for (const paths of [
      ['/v1/waits', '/v1/waits', '/v1/large', '/v1/whole'],
      ['/v1/three', '/v1/waits'],
    ]) {
      const socket = net.connect(port, '127.0.0.1')
      socket.on('error', () => {})
      socket.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`).join(''))
      await Promise.race([once(socket, 'data'), once(socket, 'close')])
      socket.destroy()
      await until(() => server.inflight() === 0)
    }
    t.strictSame(server.errors, [])
  })

  onBoth('answers of one connection leave in the order of its requests', async (t, _url, port, server) => {
    // uWebSockets.js closes the connection, because the second request comes before the first answer is complete.
    if (port === server.port && engine === 'uws') return
    const requests = ['/v1/paced', '/v1/large', '/v1/three'].map((path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`)
    const { text } = await raw(port, `${requests.join('')}GET /v1/list HTTP/1.0\r\nHost: a\r\n\r\n`, 20_000)
    t.match(text.match(/HTTP\/1.1 \d+|id: 2|abc/g), [
      'HTTP/1.1 200',
      'HTTP/1.1 200',
      'HTTP/1.1 200',
      'id: 2',
      'HTTP/1.1 200',
    ])
    t.ok(text.length > 20 * 262_144 + 1024 * 65_536)
    t.equal(server.inflight(), 0)
  })

  onBoth('a client that reads slowly slows the stream', async (t, _url, port, server) => {
    for (const [path, total] of [
      ['/v1/large', 1024 * 65_536],
      ['/v1/floods', 2000 * 87_384],
    ] as const) {
      const socket = net.connect(port, '127.0.0.1')
      socket.pause()
      socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`)
      await until(() => seen.produced > 0)
      let before = -1
      while (before !== seen.produced) {
        before = seen.produced
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
      t.ok(seen.produced < 400, `${seen.produced} chunks made for a client that took none`)
      let bytes = 0
      socket.on('data', (chunk) => {
        bytes += chunk.length
      })
      socket.resume()
      await until(() => server.inflight() === 0)
      await until(() => bytes >= total)
      socket.destroy()
    }
  })

  onBoth('a source that is slower than its client is not delayed', async (t, url) => {
    const signal = AbortSignal.timeout(10_000)
    const bytes = await fetch(`${url}/v1/paced`, { signal }).then((response) => response.arrayBuffer())
    t.equal(bytes.byteLength, 20 * 262_144)
  })

  t.test('a client that does not read a stream for too long is disconnected', async (t) => {
    const clock = new TestClock()
    const server = await start(mounts, { clock, uploadPort: 0, limits: { readerTimeoutMs: 60_000 } })
    t.teardown(() => server.stop())
    for (const port of [server.port, server.uploadPort as number]) {
      const socket = net.connect(port, '127.0.0.1')
      socket.on('error', () => {})
      socket.pause()
      socket.write('GET /v1/large HTTP/1.1\r\nHost: a\r\n\r\n')
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

  t.test('an idle event stream is kept open by keep-alives', async (t) => {
    const clock = new TestClock()
    const server = await start(mounts, { clock })
    t.teardown(() => server.stop())
    const socket = net.connect(server.port, '127.0.0.1')
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk.toString()
    })
    socket.write('GET /v1/waits HTTP/1.1\r\nHost: a\r\n\r\n')
    await until(() => text.includes('data: "first"') && clock.timers === 1)
    clock.pass(14_999)
    t.notMatch(text, /: keep-alive\n\n/)
    clock.pass(1)
    clock.pass(15_000)
    await until(() => text.split(': keep-alive\n\n').length === 3)
    t.equal(clock.timers, 1, 'one timer a stream')
    seen.release()
    await until(() => server.inflight() === 0)
    t.equal(clock.timers, 0)
    t.match(text, /\r\n0\r\n\r\n$/)
    socket.destroy()
  })
})
