/** If a client sends many requests at once and reads no answer, it must not fill the memory. */

import net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { EngineName } from '../../runtime/engine/options.ts'
import { loadUws } from '../../runtime/listeners/uws/load.ts'
import { mount, operation, start, surface } from './harness.ts'
import { get } from './surface.ts'

const largeBytes = 128_000
/** An answer of this size does not fit into the network's buffers if the client does not read. */
const hugeBytes = 64 * largeBytes
/** A byte in bodies that occurs in no header, so a test can count the body bytes. */
const mark = '~'.charCodeAt(0)
const operations = [
  operation('large', 'get', '/v1/large'),
  operation('later', 'get', '/v1/later'),
  operation('huge', 'get', '/v1/huge'),
]
const large = () => ({ status: 200, body: '~'.repeat(largeBytes) })
const handlers = {
  large,
  huge: () => ({ status: 200, body: '~'.repeat(hugeBytes) }),
  later: async () => {
    await sleep(1)
    return large()
  },
}
const requestsOf = (path: string, count: number) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(count)
const grownMax = 32 * 1024 * 1024

t.test('unread answers of uWebSockets.js take bounded memory', { skip: problemOfUws() }, (t) => suite(t, 'uws', false))
t.test('unread answers of node:http take bounded memory', (t) => suite(t, 'node', false))
t.test('unread answers of the TCP port for uploads take bounded memory', (t) => suite(t, 'node', true))

function problemOfUws(): string | false {
  const loaded = loadUws()
  return 'problem' in loaded && loaded.problem
}

async function suite(t: Test, engine: EngineName, ofUploads: boolean): Promise<void> {
  const server = await start([mount(surface('main', ...operations), handlers)], {
    engine,
    uploadPort: ofUploads ? 0 : null,
    limits: { requestsMax: 10_000 },
  })
  t.teardown(() => server.stop())
  const port = server.uploadPort ?? server.port

  for (const path of ['/v1/large', '/v1/later']) {
    await t.test(`1000 unread answers of ${path} on each of two connections take bounded memory`, async (t) => {
      // The first request loads code, and this must not count as memory growth.
      await get(`http://127.0.0.1:${port}${path}`)
      const before = process.memoryUsage().rss
      const sockets = [silent(port), silent(port)]
      for (const socket of sockets) socket.write(requestsOf(path, 1000))
      let grown = 0
      for (let i = 0; i < 20; i++) {
        await sleep(50)
        grown = Math.max(grown, process.memoryUsage().rss - before)
      }
      t.ok(grown < grownMax, `grown by ${Math.round(grown / 1024 / 1024)} MiB`)
      const other = await get(`http://127.0.0.1:${port}/v1/large`)
      t.equal(other.status, 200, 'another client is served')
      for (const socket of sockets) socket.destroy()
    })
  }

  await t.test('a client that reads its answers gets all pipelined answers', async (t) => {
    const socket = silent(port)
    socket.write(requestsOf('/v1/large', 5))
    t.equal(await bodiesOf(socket, 5), 5)
    socket.destroy()
  })

  await t.test('a client that reads late gets whole answers, one after the other', async (t) => {
    const socket = silent(port)
    for (const path of ['/v1/huge', '/v1/huge', '/v1/large']) {
      socket.write(requestsOf(path, 1))
      await sleep(100)
      const bodies = path === '/v1/huge' ? hugeBytes / largeBytes : 1
      t.equal(await bodiesOf(socket, bodies), bodies)
    }
    socket.destroy()
  })

  await t.test('a kept-alive connection serves very many requests', async (t) => {
    const socket = silent(port)
    for (let i = 0; i < 100; i++) {
      socket.write(requestsOf('/v1/large', 1))
      if ((await bodiesOf(socket, 1)) !== 1) t.fail(`request ${i}`)
    }
    t.notOk(socket.destroyed)
    socket.destroy()
  })
}

/** Opens a connection on which nothing is read. */
function silent(port: number): net.Socket {
  const socket = net.connect({ port, host: '127.0.0.1' })
  socket.on('error', () => {})
  socket.pause()
  return socket
}

/** Reads this many bodies, or fewer if the connection ends first. Returns the count. */
async function bodiesOf(socket: net.Socket, expected: number): Promise<number> {
  let contentBytes = 0
  const done = new Promise<void>((resolve) => {
    socket.once('close', resolve)
    const giveUp = setTimeout(resolve, 5000)
    socket.on('data', (chunk: Buffer) => {
      for (const byte of chunk) if (byte === mark) contentBytes++
      if (contentBytes < expected * largeBytes) return
      clearTimeout(giveUp)
      resolve()
    })
  })
  socket.resume()
  await done
  socket.removeAllListeners('data').removeAllListeners('close').pause()
  return contentBytes / largeBytes
}
