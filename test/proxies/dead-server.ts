/** One of two servers dies without a drain. Requests that come then wait for a moment at most, and none fails. */
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import { fetch } from 'undici'
import { type ProxyName, startProxy } from './proxy.ts'

const requests = 20
/** Caddy asks each second whether a server is ready, and tries for 5 s. */
const longestMs = 4000

export async function deadServer(t: Test, name: ProxyName): Promise<void> {
  const servers = [await startServer(), await startServer()]
  t.teardown(() => Promise.all(servers.map(stop)))
  const proxy = await startProxy(
    name,
    servers.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`),
  )
  t.teardown(() => proxy.stop())
  await stop(servers[0] as Server)
  const startedMs = performance.now()
  const answers = await Promise.all(
    Array.from({ length: requests }, async () => {
      const response = await fetch(`${proxy.url}/v1/chat/completions`, { method: 'POST', body: '{}' })
      return response.text()
    }),
  )
  t.strictSame(answers, Array(requests).fill('whole'))
  const ms = Math.round(performance.now() - startedMs)
  t.ok(ms < longestMs, `after ${ms} ms`)
}

async function startServer(): Promise<Server> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.end('whole'))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return server
}

async function stop(server: Server): Promise<void> {
  const closed = server.listening && once(server, 'close')
  server.close()
  server.closeAllConnections()
  await closed
}
