/**
 * Anybody reaches the proxy, because keys are checked behind it. A body that breaks off is the fault of its client, and
 * takes no server out of the balance. No length that a client claims fills the memory of the proxy.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import http2 from 'node:http2'
import net, { type AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { fetch } from 'undici'
import { type Proxy, type ProxyName, startProxy } from './proxy.ts'

const brokenRequests = 20
const waitMs = 5000
const path = '/v1/chat/completions'

export async function brokenBodies(t: Test, name: ProxyName): Promise<void> {
  const posts: string[] = []
  const server = createServer((request, response) => {
    if (request.method === 'POST') posts.push(request.httpVersion)
    request.on('error', () => {}).on('end', () => response.end('whole'))
    request.resume()
  })
  server.listen(0, '127.0.0.1')
  t.teardown(() => new Promise((resolve) => server.close(resolve)))
  await once(server, 'listening')
  const proxy = await startProxy(name, [`http://127.0.0.1:${(server.address() as AddressInfo).port}`])
  t.teardown(() => proxy.stop())

  await t.test('a chunk without a length', async (t) => {
    for (let i = 0; i < brokenRequests; i++) await sendBrokenChunk(proxy)
    await isServed(t, proxy)
  })
  if (name === 'nginx') return

  await t.test('a body of HTTP/2 that ends before its length', async (t) => {
    for (let i = 0; i < brokenRequests; i++) await sendShortBody(proxy)
    await isServed(t, proxy)
  })
  await t.test('a body of HTTP/2 goes on before it has ended', async (t) => {
    posts.length = 0
    const session = http2.connect(proxy.url)
    t.teardown(() => session.destroy())
    const stream = session.request({ ':method': 'POST', ':path': path, 'content-length': 4 })
    stream.on('error', () => {}).write('ab')
    for (const giveUpMs = Date.now() + waitMs; posts.length === 0 && Date.now() < giveUpMs; ) await sleep(20)
    t.equal(posts.length, 1, 'so Caddy keeps none of it: a second Content-Length could claim any length')
  })
}

/** Resolves when the proxy has answered, or has closed the connection. */
async function sendBrokenChunk({ url }: Proxy): Promise<void> {
  const { hostname, port } = new URL(url)
  const socket = net.connect(Number(port), hostname)
  socket.on('error', () => {})
  socket.write(`POST ${path} HTTP/1.1\r\nHost: ${hostname}\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`)
  await Promise.race([once(socket, 'data'), once(socket, 'close'), sleep(waitMs)])
  socket.destroy()
}

async function sendShortBody({ url }: Proxy): Promise<void> {
  const session = http2.connect(url)
  const stream = session.request({ ':method': 'POST', ':path': path, 'content-length': 1000 })
  stream.on('error', () => {}).end('short')
  await Promise.race([once(stream, 'close'), sleep(waitMs)])
  session.destroy()
}

async function isServed(t: Test, { url }: Proxy): Promise<void> {
  const startedMs = performance.now()
  const response = await fetch(url + path, { method: 'POST', body: '{}' })
  t.equal(await response.text(), 'whole', 'the next request is served')
  t.ok(performance.now() - startedMs < 1000, 'and at once')
}
