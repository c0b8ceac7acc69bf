/**
 * Tests broken request bodies. The proxy cannot check keys, so any client reaches it. If a body breaks off, the client
 * is at fault: the failure must not take a server from rotation, and no server may take the body for complete. A
 * claimed length must not fill the proxy's memory. nginx reads each body before it asks a server, so this test is for
 * Caddy.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import net, { type AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { fetch } from 'undici'
import { until } from '../process/machine.ts'
import { post2, postLengths } from './http2.ts'
import { chat } from './load.ts'
import { startProxy } from './proxy.ts'

const brokenRequests = 20
const waitMs = 5000
/**
 * A request is answered within this time only if its server is still in rotation. With Caddy's `fail_duration` a server
 * got no requests for 2 s after a failure.
 */
const atOnceMs = 1800

export async function brokenBodies(t: Test): Promise<void> {
  const seen = { begun: 0, whole: 0 }
  const server = createServer((request, response) => {
    if (request.method !== 'POST') return void response.end()
    seen.begun++
    request
      .on('error', () => {})
      .on('end', () => {
        seen.whole++
        response.end('whole')
      })
    request.resume()
  })
  server.listen(0, '127.0.0.1')
  t.teardown(() => new Promise((resolve) => server.close(resolve)))
  await once(server, 'listening')
  const proxy = await startProxy('caddy', [`http://127.0.0.1:${(server.address() as AddressInfo).port}`])
  t.teardown(() => proxy.stop())
  const { url } = proxy
  const broken: Record<string, () => Promise<unknown>> = {
    'a chunk without a length': () => post1(url, 'Transfer-Encoding: chunked\r\n\r\nzz\r\n'),
    'a body that ends before its length': () => post1(url, 'Content-Length: 1000\r\n\r\nshort'),
    'a body of HTTP/2 that ends before its length': () => post2(url, chat, 'short', 1000),
  }
  for (const [title, send] of Object.entries(broken)) {
    await t.test(title, async (t) => {
      seen.whole = 0
      for (let i = 0; i < brokenRequests; i++) await Promise.race([send(), sleep(waitMs, undefined, { ref: false })])
      t.equal(seen.whole, 0, 'no server took it for whole')
      const startedMs = performance.now()
      const response = await fetch(url + chat, { method: 'POST', body: '{}' })
      t.equal(await response.text(), 'whole', 'the next request is served')
      t.ok(performance.now() - startedMs < atOnceMs, 'and at once')
    })
  }

  await t.test('two content-length headers over HTTP/2 do not make Caddy buffer the body', async (t) => {
    seen.begun = 0
    const socket = postLengths(url, chat, [1_000_000_000, 4])
    t.teardown(() => socket.destroy())
    await until('the request goes on without its body', () => seen.begun > 0, waitMs)
    t.equal(seen.begun, 1, 'Caddy does not keep the body in memory')
  })
}

/** Sends a request's text and closes this half of the connection. Resolves once the proxy has answered or closed it. */
function post1(url: string, rest: string): Promise<void> {
  const { hostname, port } = new URL(url)
  const socket = net.connect(Number(port), hostname)
  socket.on('error', () => {}).end(`POST ${chat} HTTP/1.1\r\nHost: ${hostname}\r\n${rest}`)
  return new Promise((resolve) => {
    const done = () => {
      socket.destroy()
      resolve()
    }
    socket.once('data', done).once('close', done)
  })
}
