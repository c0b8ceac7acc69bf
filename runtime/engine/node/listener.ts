import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serve } from '../../http/lifecycle.ts'
import type { Engine } from '../engine.ts'
import type { Listener } from '../transport.ts'
import { NodeTransport } from './transport.ts'

/**
 * The upload port over node:http, for uplinks slower than the 16 KiB/s below which uWebSockets.js cuts a body. Null
 * when no upload port is configured.
 */
export async function openUploads(engine: Engine): Promise<Listener | null> {
  const { host, uploadPort, limits } = engine.options
  if (uploadPort === null) return null
  // The engine requires the Host header: node would answer 400, and then run the request behind.
  const options = { connectionsCheckingInterval: 5000, requireHostHeader: false }
  const server = createServer(options, (request, response) => {
    // A request that arrived in one piece with another that closed the connection is still handed out, and must not run.
    if (request.socket.destroyed) return
    void serve(engine, new NodeTransport(request, response, limits.uploadBodyTimeoutMs))
  })
  server.headersTimeout = 10_000
  server.keepAliveTimeout = 10_000
  // The engine's limits come first and answer with an envelope. This one ends a connection that they miss.
  server.requestTimeout = limits.uploadBodyTimeoutMs + 60_000
  await listen(server, host, uploadPort)
  return {
    port: (server.address() as AddressInfo).port,
    refuse: () => void server.close(),
    close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      return closed
    },
  }
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) =>
      reject(new Error(`cannot listen on ${host}:${port} for uploads: the port is taken`, { cause })),
    )
    server.listen({ host, port, exclusive: true }, resolve)
  })
}
