/**
 * A proxy and the server could disagree about where these requests end. The server must not answer such a request, and
 * must never run another request hidden behind it.
 */
import net from 'node:net'
import t from 'tap'
import { TestClock } from '../clock.ts'
import { overEngines } from '../engine/engines.ts'
import { wholeProcess } from '../time/quiet.ts'
import { jsonBody, mount, operation, raw, start, surface, until } from './harness.ts'

const hidden = 'GET /v1/hidden HTTP/1.1\r\nHost: a\r\n\r\n'
const length = `Content-Length: ${hidden.length}`
const json = 'Content-Type: application/json'

const operations = [operation('take', 'post', '/v1/take', { body: jsonBody }), operation('hidden', 'get', '/v1/hidden')]

overEngines(t, (t, engine) => {
  t.test('a request with ambiguous framing is refused, and no smuggled request runs', async (t) => {
    let hiddenRuns = 0
    const handlers = {
      take: () => ({ status: 200, body: 'taken' }),
      hidden: () => {
        hiddenRuns++
        return { status: 200, body: 'hidden' }
      },
    }
    const server = await start([mount(surface('main', ...operations), handlers)], { uploadPort: 0 })
    t.teardown(() => server.stop())

    const cases: Record<string, string> = {
      'two Content-Length, the first shorter': `POST /v1/take HTTP/1.1\r\nHost: a\r\n${json}\r\nContent-Length: 2\r\n${length}\r\n\r\n{}${hidden}`,
      'two equal Content-Length': `POST /v1/take HTTP/1.1\r\nHost: a\r\n${json}\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n{}${hidden}`,
      'an empty Content-Length before a real one': `GET /v1/hidden2 HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n${length}\r\n\r\n${hidden}`,
      'Content-Length 0 before a real one, on a GET': `GET /v1/hidden2 HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n${length}\r\n\r\n${hidden}`,
      'Transfer-Encoding: xchunked': `POST /v1/take HTTP/1.1\r\nHost: a\r\n${json}\r\nTransfer-Encoding: xchunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n${hidden}`,
      'Transfer-Encoding: chunked, identity': `POST /v1/take HTTP/1.1\r\nHost: a\r\n${json}\r\nTransfer-Encoding: chunked, identity\r\n\r\n2\r\n{}\r\n0\r\n\r\n${hidden}`,
      'two Transfer-Encoding': `POST /v1/take HTTP/1.1\r\nHost: a\r\n${json}\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n${hidden}`,
      'both Content-Length and Transfer-Encoding': `POST /v1/take HTTP/1.1\r\nHost: a\r\n${json}\r\n${length}\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n${hidden}`,
      'two Host': `POST /v1/take HTTP/1.1\r\nHost: a\r\nHost: b\r\n${json}\r\nContent-Length: 2\r\n\r\n{}${hidden}`,
      'an unknown path': `POST /v1/nothing HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n${length}\r\n\r\n{}${hidden}`,
      'an unknown method': `BREW /v1/take HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n${length}\r\n\r\n{}${hidden}`,
    }
    for (const [what, request] of Object.entries(cases)) {
      for (const port of [server.port, server.uploadPort as number]) {
        const { text, isClosed } = await raw(port, request, 1000)
        t.notMatch(text, /200 OK/, what)
        t.ok(isClosed, `${what}: the connection is closed`)
        t.equal(hiddenRuns, 0, `${what} ${port === server.port}`)
      }
    }
    t.equal(hiddenRuns, 0)
    t.equal(server.inflight(), 0)

    for (const port of [server.port, server.uploadPort as number]) {
      const { text } = await raw(port, hidden + hidden)
      t.match(text, /"hidden"[\s\S]*"hidden"/, 'two requests that stand plainly behind each other are both served')
      t.equal((await raw(port, `${hidden.trim()}\r\nConnection: close\r\n\r\n`, 1000)).isClosed, true, 'as it asked')
    }
  })

  const verified = engine === 'node' && 'node:http verifies the framing of bodies, and answers at once'

  t.test('if the answer comes before a chunked body ends, no smuggled request runs', { skip: verified }, async (t) => {
    let hiddenRuns = 0
    const handlers = {
      take: () => ({ status: 200, body: 'taken' }),
      hidden: () => {
        hiddenRuns++
        return { status: 200, body: 'hidden' }
      },
    }
    const clock = new TestClock({ quiet: wholeProcess })
    const server = await start([mount(surface('main', ...operations), handlers)], { clock })
    t.teardown(() => server.stop())
    const head = `POST /v1/nothing HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n`
    t.match((await clock.during(raw(server.port, head))).text, /^HTTP\/1.1 404 /, 'a body that stalls is answered')
    const client = net.connect(server.port, '127.0.0.1')
    let text = ''
    client.on('data', (chunk: Buffer) => (text += chunk.toString()))
    client.on('error', () => {})
    const closed = new Promise((resolve) => client.once('close', resolve))
    client.write(head)
    for (let at = 0; at < 4; at++) {
      await clock.advance(150)
      t.equal(text, '', 'one that arrives is not')
      client.write('4\r\nabcd\r\n')
    }
    client.write(`0\r\n\r\n`)
    await until(() => text !== '')
    t.match(text, /^HTTP\/1.1 404 /)
    client.write(hidden)
    await closed
    t.notMatch(text, /200 OK/)
    t.equal(hiddenRuns, 0)
  })

  t.test('requests that node:http or uWebSockets.js refuse do not end the server', async (t) => {
    const server = await start(
      [
        mount(surface('main', ...operations), {
          take: () => ({ status: 200, body: 1 }),
          hidden: () => ({ status: 200, body: 1 }),
        }),
      ],
      {
        uploadPort: 0,
      },
    )
    t.teardown(() => server.stop())
    for (const port of [server.port, server.uploadPort as number]) {
      for (const request of [
        '\x16\x03\x01\x02\x00',
        'GET\r\n\r\n',
        'POST /v1/take HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n',
        `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(200_000)}\r\n\r\n`,
      ]) {
        await raw(port, request, 100)
      }
      t.match((await raw(port, hidden)).text, /200 OK/)
    }
  })
})
