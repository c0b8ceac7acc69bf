/**
 * Tests a server that dies without a drain. The other server is busier, so it is not the proxy's first choice. New
 * requests may wait for a moment, and all must succeed.
 */
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { Agent, fetch } from 'undici'
import { post2 } from './http2.ts'
import { chat } from './load.ts'
import { type ProxyName, startProxy } from './proxy.ts'

const requests = 20
/** Caddy checks each second whether a server is ready, and tries a request for 5 s. */
const longestMs = 4000
const whole = Array<string>(requests).fill('whole')

export async function deadServer(t: Test, name: ProxyName): Promise<void> {
  const servers = [await startServer(), await startServer()]
  t.teardown(() => Promise.all(servers.map(stop)))
  const urls = servers.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const proxy = await startProxy(name, urls)
  const { url } = proxy
  const agent = new Agent()
  t.teardown(() => Promise.all([agent.destroy(), proxy.stop()]))
  // Opens one request at each server, and leaves it unanswered.
  for (let i = 0; i < servers.length; i++) await fetch(`${url}/held`, { dispatcher: agent })
  await stop(servers[0] as Server)
  // Gives the proxy time to see that its idle connections are closed, because it does not repeat a POST on such a
  // connection.
  await sleep(100)
  const post = async () => {
    const response = await fetch(url + chat, { method: 'POST', body: '{}', dispatcher: agent })
    return response.text()
  }
  const post2s = name === 'caddy' ? requests : 0
  const startedMs = performance.now()
  const [answers, answers2] = await Promise.all([
    Promise.all(Array.from({ length: requests }, post)),
    Promise.all(Array.from({ length: post2s }, () => post2(url, chat, '{}'))),
  ])
  const ms = Math.round(performance.now() - startedMs)
  t.strictSame(answers, whole)
  t.strictSame(answers2, whole.slice(0, post2s), 'over HTTP/2 too')
  t.ok(ms < longestMs, `after ${ms} ms`)
}

async function startServer(): Promise<Server> {
  const server = createServer((request, response) => {
    if (request.url === '/held') response.write('held')
    else request.resume().on('end', () => response.end('whole'))
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
