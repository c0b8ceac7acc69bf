import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Registry } from 'prom-client'
import { isLoopbackAuthority, isLoopbackHost } from '../engine/host.ts'
import { notListening } from '../process/free-port.ts'

/**
 * Serves Prometheus text on a separate port. With a loopback host, clients cannot reach it, and a request for another
 * host gets 404. Rejects with ConfigError if it cannot listen. If PARLEY_PROCESSES starts several processes, each
 * further process uses the next port.
 */
export async function startMetricsServer(
  host: string,
  port: number,
  registry: Registry,
): Promise<{ port: number; close: () => void }> {
  const server = createServer((request, response) => {
    // Another site can point its name at this machine (DNS rebinding). Requests from its pages then have that name in
    // the Host header.
    const isForeign = isLoopbackHost(host) && !isLoopbackAuthority(request.headers.host ?? '')
    if (isForeign || request.method !== 'GET' || request.url !== '/metrics') {
      response.writeHead(404).end()
      return
    }
    registry.metrics().then(
      (text) => response.writeHead(200, { 'Content-Type': registry.contentType }).end(text),
      () => response.writeHead(500).end(),
    )
  })
  await new Promise<void>((resolve, reject) => {
    // Once the server listens, the promise has resolved and `reject` has no effect. So a failed accept is ignored.
    server.on('error', (error) =>
      reject(notListening(error, { host, port }, { host: 'PARLEY_ADMIN_HOST', port: 'PARLEY_ADMIN_PORT' })),
    )
    server.listen(port, host, resolve)
  })
  return { port: (server.address() as AddressInfo).port, close: () => void server.close() }
}
