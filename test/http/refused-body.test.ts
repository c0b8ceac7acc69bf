/**
 * If a client sends all of a too large body or head before it reads anything, it must still get the refusal, even if it
 * asks to close.
 */
import net from 'node:net'
import t, { type Test } from 'tap'
import { overEngines } from '../engine/engines.ts'
import { jsonBody, mount, operation, start, surface } from './harness.ts'

overEngines(t, (t, engine) => {
  let runs = 0
  const operations = [
    operation('take', 'post', '/v1/take', { body: jsonBody }),
    operation('hidden', 'post', '/v1/hidden', { body: { ...jsonBody, required: false } }),
  ]
  const run = () => {
    runs += 1
    return { status: 200, body: {} }
  }

  t.test('a body that is too large is refused, and no smuggled request runs', async (t) => {
    const server = await start([mount(surface('main', ...operations), { take: run, hidden: run })], { uploadPort: 0 })
    t.teardown(() => server.stop())
    await t.test("the server's main TCP port refuses a large body", (t) => refuses(t, server.port))
    await t.test('the TCP port for uploads refuses a large body', (t) => refuses(t, server.uploadPort as number))
    t.equal(runs, 0)
  })

  // uWebSockets.js closes the connection itself, with unread bytes.
  t.test('a head that is too large is refused', { skip: engine === 'uws' && 'uWebSockets.js resets it' }, async (t) => {
    const server = await start([mount(surface('main', ...operations), { take: run, hidden: run })], {})
    t.teardown(() => server.stop())
    const head = `POST /v1/hidden?${'x'.repeat(15 * 1024 * 1024)} HTTP/1.1\r\nHost: a\r\n\r\n`
    const { text, error } = await sendThenRead(server.port, [head])
    t.equal(error, null)
    t.match(text, /^HTTP\/1.1 431 /)
    t.equal(runs, 0)
  })
})

async function refuses(t: Test, port: number): Promise<void> {
  // The body does not fit into the buffers of two sockets, so the client can send it only if the server reads.
  const body = Buffer.alloc(15 * 1024 * 1024)
  const head = `POST /v1/take HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`
  const { text, error } = await sendThenRead(port, [head, body])
  t.equal(error, null)
  t.match(text, /^HTTP\/1.1 413 /)
  const behind = await sendThenRead(port, [head, body, 'POST /v1/hidden HTTP/1.1\r\nHost: a\r\n\r\n'])
  t.notMatch(behind.text, 'HTTP/1.1 200', 'nothing behind the body is answered')
}

function sendThenRead(port: number, pieces: (string | Buffer)[]): Promise<{ text: string; error: string | null }> {
  return new Promise((resolve) => {
    const socket = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    let text = ''
    const settle = (error: string | null) => {
      socket.destroy()
      resolve({ text, error })
    }
    socket.pause()
    socket.on('error', ({ message }) => settle(message))
    socket.on('end', () => settle(null))
    socket.on('data', (chunk) => (text += chunk.toString()))
    for (const piece of pieces.slice(0, -1)) socket.write(piece)
    socket.write(pieces.at(-1) ?? '', () => socket.resume())
  })
}
