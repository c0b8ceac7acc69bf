import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, Server as NetServer } from 'node:net'
import type { Listener } from '../../engine/transport.ts'
import type { Engine } from '../../http/engine.ts'
import { serve } from '../../http/lifecycle.ts'
import { upgrade } from '../upgrade.ts'
import { oweAnswer, owesTooMuch } from './owed.ts'
import { joinPort, sharePort } from './shared-port.ts'
import { asksForSocket, UpgradedConnections, withoutThrowing } from './sockets.ts'
import { NodeTransport } from './transport.ts'

/** The main port over node:http and `ws`: HTTP and sockets. Rejects when the port is taken. */
export async function openNode(engine: Engine): Promise<Listener> {
  const { host, port, sharedPort, clock } = engine.options
  const server = createHttp(engine)
  const upgraded = new UpgradedConnections(engine, server)
  if (sharedPort === 'joins') server.listen(await joinPort(clock))
  else await listen(server, host, port, '')
  return listenerOf(server, upgraded)
}

/**
 * The upload port beside uWebSockets.js, for uplinks slower than the 16 KiB/s below which that cuts a body. Null when no
 * upload port is configured.
 */
export async function openUploads(engine: Engine): Promise<Listener | null> {
  const { host, uploadPort } = engine.options
  if (uploadPort === null) return null
  const server = createHttp(engine)
  await listen(server, host, uploadPort, ' for uploads')
  return listenerOf(server, null)
}

function createHttp(engine: Engine): Server {
  const { clock, log } = engine.options
  const { uploadBodyTimeoutMs, readerTimeoutMs } = engine.options.limits
  const serveOne = (request: IncomingMessage, response: ServerResponse) => {
    const transport = new NodeTransport(request, response, uploadBodyTimeoutMs, readerTimeoutMs)
    if (!asksForSocket(engine, request, transport.path)) return void serve(engine, transport)
    // It lacks the headers that would bring it to the listener of upgrades, and is refused for that.
    void upgrade(engine, Object.assign(transport, { upgrade: () => null }))
  }
  const take = (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request
    // A request that arrived in one piece with another that closed the connection is still handed out, and must not run.
    if (socket.destroyed) return
    if (owesTooMuch(socket)) return void socket.destroy()
    oweAnswer(socket, response)
    withoutThrowing(engine, socket, () => serveOne(request, response))
  }
  // The engine requires the Host header: node would answer 400, and then run the request behind. NODE_OPTIONS must not
  // turn the lenient parser on.
  const options = { connectionsCheckingInterval: 5000, requireHostHeader: false, insecureHTTPParser: false }
  const server = createServer(options, take)
  let loggedMs = Number.NEGATIVE_INFINITY
  // A connection could not be accepted, as when too many files are open. Without a listener this would end the process.
  server.on('error', (err) => {
    if (!server.listening || clock.monotonicMs() - loggedMs < logEveryMs) return
    loggedMs = clock.monotonicMs()
    log.error({ err }, 'a connection could not be accepted')
  })
  // The header is ignored, as uWebSockets.js does. node:http would answer 417 in its own words.
  server.on('checkExpectation', take)
  // The size of the head bounds their number. With a bound on the number, node:http drops the others silently.
  server.maxHeadersCount = 0
  server.headersTimeout = 10_000
  server.keepAliveTimeout = 10_000
  // The engine's limits come first and answer with an envelope. This one ends a connection that they miss.
  server.requestTimeout = uploadBodyTimeoutMs + 60_000
  return server
}

function listenerOf(server: Server, upgraded: UpgradedConnections | null): Listener {
  let closed: Promise<void> | null = null
  /**
   * http.Server.close would also close idle connections, and a proxy may be sending a request over one of them. They end
   * by themselves after 10 s.
   */
  const refuse = () => (closed ??= new Promise((resolve) => NetServer.prototype.close.call(server, () => resolve())))
  return {
    port: (server.address() as AddressInfo).port,
    share: (child) => sharePort(child, server),
    refuse: () => void refuse(),
    close() {
      const done = refuse()
      server.closeAllConnections()
      upgraded?.close()
      return done
    },
  }
}

function listen(server: Server, host: string, port: number, purpose: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) =>
      reject(
        new Error(
          `cannot listen on ${host}:${port}${purpose}: the port is taken, or the address is not this machine's`,
          { cause },
        ),
      ),
    )
    server.listen({ host, port, exclusive: true }, resolve)
  })
}

/** At most one line a second is logged about connections that could not be accepted. */
const logEveryMs = 1000
