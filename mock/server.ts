/**
 * The mock server: every operation and socket of the contract, answered from the contract's examples. It has no
 * database, no models and no memory: the same request always gets the same answer.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { authorityOf } from '../runtime/engine/host.ts'
import { serveWithoutUpgrade } from '../runtime/listeners/node/sockets.ts'
import { notListening } from '../runtime/process/free-port.ts'
import { readSurfaces, type Surface } from './documents.ts'
import { respondTo } from './respond.ts'
import { send } from './send.ts'
import { MockSockets } from './sockets.ts'

export type MockOptions = { host: string; port: number }
export type MockServer = { url: string; close(): Promise<void> }

/** The maximum number of connections at a time, sockets included. node:http refuses others. */
const connectionsMax = 1000

/** How long clients may take to close their sockets when the server ends, in milliseconds. */
const closeMsMax = 1000

/** Resolves when the server takes requests. Port 0 is any free port. Throws ConfigError if it cannot listen. */
export async function startMock({ host, port }: MockOptions): Promise<MockServer> {
  const surfaces = readSurfaces()
  const sockets = new MockSockets(surfaces)
  const server = createServer((request, response) => void respond(surfaces, request, response))
  server.maxConnections = connectionsMax
  // node:http no longer knows these connections, and its close() waits for them.
  const upgraded = new Set<Socket>()
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    // Java's client offers HTTP/2 with every request, and a server may ignore the offer.
    if (request.headers.upgrade?.toLowerCase() !== 'websocket')
      return serveWithoutUpgrade(server, request, socket, head)
    upgraded.add(socket)
    socket.once('close', () => upgraded.delete(socket))
    // A client may reset the connection before the answer.
    socket.on('error', () => socket.destroy())
    const refusal = sockets.open(request, socket, head)
    if (refusal === null) return
    const response = new ServerResponse(request)
    response.assignSocket(socket)
    response.once('finish', () => socket.destroySoon())
    void send(response, { ...refusal, headers: { ...refusal.headers, Connection: 'close' } })
  })
  await listen(server, host, port)
  const url = `http://${authorityOf(host, (server.address() as AddressInfo).port)}`
  return { url, close: () => close(server, sockets, upgraded) }
}

async function respond(surfaces: readonly Surface[], request: IncomingMessage, response: ServerResponse) {
  try {
    await send(response, await respondTo(surfaces, request))
  } catch (error) {
    // The client may have left while it sent its body.
    if (request.socket.destroyed) return
    console.error(error)
    if (!response.headersSent) response.writeHead(500)
    response.end()
  }
}

async function listen(server: Server, host: string, port: number): Promise<void> {
  server.listen({ host, port })
  try {
    await once(server, 'listening')
  } catch (error) {
    throw notListening(error as NodeJS.ErrnoException, { host, port }, { host: '--host', port: '--port' })
  }
}

async function close(server: Server, sockets: MockSockets, upgraded: ReadonlySet<Socket>): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  sockets.close()
  server.closeAllConnections()
  const late = setTimeout(() => {
    for (const socket of upgraded) socket.destroy()
  }, closeMsMax)
  await closed
  clearTimeout(late)
}
