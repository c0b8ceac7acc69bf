/**
 * On uWebSockets.js a refusal waits for the rest of the request's body, and closes the connection if the body stalls.
 * node:http has its own time limit for each connection.
 */
import { once } from 'node:events'
import net from 'node:net'
import t, { type Test } from 'tap'
import { TestClock } from '../clock.ts'
import { overEngines } from '../engine/engines.ts'
import { wholeProcess } from '../time/quiet.ts'
import { mount, operation, start, surface } from './harness.ts'

overEngines(t, (t, engine) => {
  if (engine !== 'uws') return
  for (const framing of ['length', 'chunks'] as const) {
    t.test(
      `if the body of a refused request, framed by ${framing}, stalls for 0.8 s, the server closes the connection`,
      async (t) => {
        const client = await begin(t, framing)
        await client.send(1, 900)
        t.equal(client.text, '')
        await client.send(0, 200)
        t.match(client.text, refusedAndClosed)
      },
    )

    t.test(
      `if the body of a refused request, framed by ${framing}, stays slow for 2 s, the server closes the connection`,
      async (t) => {
        const client = await begin(t, framing)
        for (let count = 0; count < 12; count += 1) await client.send(1, 150)
        t.equal(client.text, '')
        for (let count = 0; count < 3; count += 1) await client.send(1, 100)
        t.match(client.text, refusedAndClosed)
      },
    )
  }

  t.test('a refused body with length that is fast keeps its connection', async (t) => {
    const client = await begin(t, 'length')
    await client.send(5_000, 250)
    t.match(client.text, /^HTTP\/1.1 404 /)
    await client.send(bodyBytes - 5_000, 0)
    await client.next()
    t.match(client.text, /HTTP\/1.1 404 [\s\S]*HTTP\/1.1 200 /)
  })

  t.test('a busy event loop does not make a refused body look slow', async (t) => {
    const client = await begin(t, 'length')
    client.write(5_000)
    client.clock.pass(2_000)
    // On a busy machine the bytes may arrive after the first check.
    await client.clock.advance(200)
    t.match(client.text, /^HTTP\/1.1 404 /)
    t.notMatch(client.text, /connection: close/i)
  })
})

const bodyBytes = 20_000
const refusedAndClosed = /^HTTP\/1.1 404 [\s\S]*\r\nConnection: close\r\n/i

/** Sends the head of a request to an unknown path. */
async function begin(t: Test, framing: 'length' | 'chunks') {
  const clock = new TestClock({ quiet: wholeProcess })
  const known = operation('known', 'get', '/v1/known')
  const server = await start([mount(surface('main', known), { known: () => ({ status: 200, body: {} }) })], { clock })
  t.teardown(() => server.stop())
  const socket = net.connect(server.port, '127.0.0.1').on('error', () => {})
  t.teardown(() => socket.destroy())
  const client = {
    clock,
    text: '',
    write(bytes: number) {
      const data = 'x'.repeat(bytes)
      if (bytes > 0) socket.write(framing === 'length' ? data : `${bytes.toString(16)}\r\n${data}\r\n`)
    },
    async send(bytes: number, thenMs: number) {
      client.write(bytes)
      await clock.advance(thenMs)
    },
    async next() {
      socket.write('GET /v1/known HTTP/1.1\r\nHost: a\r\n\r\n')
      await Promise.race([once(socket, 'data'), once(socket, 'close')])
    },
  }
  socket.on('data', (chunk) => (client.text += chunk.toString()))
  const length = framing === 'length' ? `Content-Length: ${bodyBytes}` : 'Transfer-Encoding: chunked'
  socket.write(`POST /v1/nothing HTTP/1.1\r\nHost: a\r\n${length}\r\n\r\n`)
  await clock.advance(0)
  return client
}
