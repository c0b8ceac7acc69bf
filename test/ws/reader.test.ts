/**
 * Tests clients that do not read: the buffered bytes are bounded, and so is the time until the server disconnects such
 * a client.
 */
import { once } from 'node:events'
import net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import type { WebSocket } from 'ws'
import { TestClock } from '../clock.ts'
import { overEngines } from '../engine/engines.ts'
import { until } from '../http/harness.ts'
import { closing, open, protocol, Recorder, type SocketServer, serve } from './harness.ts'

const chunk = new Uint8Array(65_536)
const bufferMax = 1_048_576

/** Sends until `send` returns false. */
function fill({ socket }: Recorder, untilBytes = 1): void {
  for (let sent = 0; sent < 1000 && socket.bufferedBytes < untilBytes; sent++) socket.sendBytes(chunk)
}

/** Stops the server. The stop waits for open sockets, so the clock moves on by a second. */
async function stopped(server: SocketServer, clock: TestClock): Promise<void> {
  const stopping = server.stop()
  // The wait begins once the sessions have been notified.
  await new Promise(setImmediate)
  clock.pass(1000)
  return stopping
}

async function paused(url: string): Promise<WebSocket> {
  const client = await open(`${url}/v1/talk`)
  client.pause()
  return client
}

overEngines(t, (t) => {
  t.test('when a slow client has caught up, its session may send again', async (t) => {
    const server = await serve()
    t.teardown(() => server.stop())
    const client = await paused(server.wsUrl)
    const session = server.sessions[0] as Recorder
    fill(session)
    t.equal(session.socket.sendBytes(chunk), false)
    client.resume()
    await until(() => session.events.length > 0)
    t.same(session.events, ['drained'])
    t.equal(session.socket.bufferedBytes, 0)
    t.equal(session.socket.sendBytes(chunk), true)
    client.terminate()
  })

  t.test('a client over the buffer limit still receives the last frame of its session', async (t) => {
    const clock = new TestClock()
    const server = await serve({
      options: { clock },
      session: (socket, context) => {
        const made = new Recorder(socket, context)
        made.onSlowReader = () => {
          made.events.push('slow')
          socket.send('{"type":"said","text":"BACKPRESSURE"}')
          socket.close(1008, 'too slow')
        }
        return made
      },
    })
    t.teardown(() => stopped(server, clock))
    const client = await paused(server.wsUrl)
    const session = server.sessions[0] as Recorder
    fill(session, Number.POSITIVE_INFINITY)
    t.ok(session.socket.bufferedBytes < bufferMax + 3 * chunk.length, 'bounded, whatever the session sends')
    await until(() => session.events.length > 0)
    t.same(session.events, ['slow'])
    t.equal(server.sockets(), 1, 'the close frame waits for what is before it')
    let last = ''
    client.on('message', (data: Buffer, isBinary) => {
      if (!isBinary) last = data.toString()
    })
    client.resume()
    t.same(await closing(client), { code: 1008, reason: 'too slow' })
    t.match(last, /BACKPRESSURE/, 'a reader that comes back in time sees why')
    // No timer is left once the server has seen the connection's end too.
    await until(() => clock.timers === 0)
  })

  t.test('a client over the buffer limit that never catches up is disconnected', async (t) => {
    const clock = new TestClock()
    const server = await serve({ options: { clock } })
    t.teardown(() => stopped(server, clock))
    const [stuck, other] = [await paused(server.wsUrl), await open(`${server.wsUrl}/v1/talk`)]
    const session = server.sessions[0] as Recorder
    fill(session, bufferMax + 1)
    await until(() => session.events.length > 0)
    t.same(session.events, ['slow'], 'once')
    for (let seconds = 0; seconds < 4; seconds++) clock.pass(1000)
    t.equal(server.sockets(), 2)
    for (let seconds = 0; seconds < 2; seconds++) clock.pass(1000)
    t.same(session.events, ['slow', 'gone'])
    t.same(server.closed, [1006])
    t.equal(server.sockets(), 1)
    stuck.terminate()
    other.terminate()
  })

  t.test('a client that reads nothing for too long is disconnected', async (t) => {
    const clock = new TestClock()
    const server = await serve({ options: { clock, limits: { readerTimeoutMs: 10_000 } } })
    t.teardown(() => stopped(server, clock))
    const client = await paused(server.wsUrl)
    const session = server.sessions[0] as Recorder
    fill(session)
    for (let seconds = 0; seconds < 9; seconds++) clock.pass(1000)
    await new Promise(setImmediate)
    t.same(session.events, [])
    clock.pass(1000)
    await new Promise(setImmediate)
    t.same(session.events, ['slow'])
    client.terminate()
  })

  t.test('a close frame that the client never reads does not keep the socket open', async (t) => {
    const clock = new TestClock()
    const server = await serve({ options: { clock, limits: { readerTimeoutMs: 10_000 } } })
    t.teardown(() => stopped(server, clock))
    const client = await paused(server.wsUrl)
    const session = server.sessions[0] as Recorder
    fill(session)
    session.socket.close(1000, 'done')
    await new Promise(setImmediate)
    t.equal(server.sockets(), 1)
    for (let seconds = 0; seconds < 11; seconds++) clock.pass(1000)
    t.same(session.events, ['gone'])
    t.equal(clock.timers, 0)
    client.on('error', () => {})
    const closed = once(client, 'close')
    client.resume()
    t.equal((await closed)[0], 1006)
  })

  t.test('a client that ignores the close frame and keeps sending is disconnected', async (t) => {
    const clock = new TestClock()
    const server = await serve({ options: { clock } })
    t.teardown(() => stopped(server, clock))
    const handshake = `Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: ${protocol}`
    const peer = net.connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true })
    peer.on('error', () => {})
    const closed = new Promise((resolve) => peer.on('close', resolve))
    peer.write(
      `GET /v1/talk HTTP/1.1\r\nHost: a\r\n${handshake}\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
    )
    await until(() => server.sessions.length === 1)
    const head = once(peer, 'data')
    peer.resume()
    await head
    server.sessions[0]?.socket.close(1000, 'bye')
    await until(() => server.sockets() === 0)
    const audio = Buffer.from([0x82, 0x80, 0, 0, 0, 0])
    // The server ends the connection at the latest 16 s after the last byte. It checks its connections every 3.75 s.
    const speech = setInterval(() => {
      peer.write(audio)
      clock.pass(1000)
    }, 50)
    const isCut = await Promise.race([closed.then(() => true), sleep(20_000, false, { ref: false })])
    clearInterval(speech)
    peer.destroy()
    t.ok(isCut)
  })
})
