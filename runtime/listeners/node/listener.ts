import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net'
import type { Listener } from '../../engine/transport.ts'
import type { Engine } from '../../http/engine.ts'
import { serve } from '../../http/lifecycle.ts'
import { upgrade } from '../upgrade.ts'
import { Endings } from './endings.ts'
import { answerUnreadable, dropRequest, oweAnswer, owesTooMuch } from './owed.ts'
import { joinPort, sharePort } from './shared-port.ts'
import { asksForSocket, UpgradedConnections, withoutThrowing } from './sockets.ts'
import { NodeTransport } from './transport.ts'

/** Opens the server's main TCP port over node:http and `ws`, for HTTP and sockets. Rejects if the port is taken. */
export async function openNode(engine: Engine): Promise<Listener> {
  const { host, port, sharedPort, clock } = engine.options
  const server = createHttp(engine)
  const upgraded = new UpgradedConnections(engine, server)
  if (sharedPort === 'joins') server.listen(await joinPort(clock))
  else await listen(server, host, port, '')
  return listenerOf(server, upgraded)
}

/**
 * Opens the TCP port for uploads beside uWebSockets.js, which cuts a body slower than 16 KiB/s. Null if no such port is
 * configured.
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
    // The request lacks some of the upgrade's headers, so node:http does not emit 'upgrade'. `upgrade` refuses the
    // request and names the missing header.
    void upgrade(engine, Object.assign(transport, { upgrade: () => null }))
  }
  const take = (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request
    // If an earlier request in the same read has closed the connection, node:http still emits this request. The later
    // request must not run.
    if (socket.destroyed) return
    if (owesTooMuch(socket)) return dropRequest(socket)
    oweAnswer(socket, response)
    withoutThrowing(engine, socket, () => serveOne(request, response))
  }
  // Our own code checks the Host header: node would answer 400, and then still run the next pipelined request.
  // NODE_OPTIONS must not enable the lenient parser.
  const options = { connectionsCheckingInterval: 1000, requireHostHeader: false, insecureHTTPParser: false }
  const server = createServer(options, take)
  let loggedMs = Number.NEGATIVE_INFINITY
  // Emitted if a connection could not be accepted, for example because too many files are open. Without a listener this
  // event would end the process.
  server.on('error', (err) => {
    if (!server.listening || clock.monotonicMs() - loggedMs < logEveryMs) return
    loggedMs = clock.monotonicMs()
    log.error({ err }, 'a connection could not be accepted')
  })
  const endings = new Endings()
  server.on('timeout', (socket: Socket) => endings.add(socket, false))
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') endings.add(socket as Socket, true)
    else answerUnreadable(socket as Socket, error.code)
  })
  // The Expect header is ignored, as in uWebSockets.js. node:http would answer 417 without our error body.
  server.on('checkExpectation', take)
  // The head's size bounds the number of headers. With a limit on the number, node:http drops further headers silently.
  server.maxHeadersCount = 0
  server.headersTimeout = 10_000
  server.keepAliveTimeout = 10_000
  // The limits of our HTTP engine apply first, and their responses have our error body. This limit ends connections
  // that our limits miss.
  server.requestTimeout = uploadBodyTimeoutMs + 60_000
  return server
}

function listenerOf(server: Server, upgraded: UpgradedConnections | null): Listener {
  let closed: Promise<void> | null = null
  /**
   * Stops accepting connections. http.Server.close would also close idle connections, and a proxy may be sending a
   * request over an idle connection. Idle connections end by themselves after 10 s.
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

/** Failed accepts are logged at most once a second. */
const logEveryMs = 1000
