import { createServer, type Server as NodeServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serve } from '../http/lifecycle.ts'
import { Engine, type ServerState } from './engine.ts'
import { NodeTransport } from './node/transport.ts'
import type { ServerOptions } from './options.ts'
import { createApp, listen, stopListening } from './uws/binary.ts'
import { serveSockets } from './uws/sockets.ts'
import { UwsTransport } from './uws/transport.ts'

export type Server = {
  readonly port: number
  /** Null when there is no upload listener. */
  readonly uploadPort: number | null
  readonly state: ServerState
  /** Requests that are being served. */
  inflight(): number
  /** Open sockets. */
  sockets(): number
  /** Refuses what is new, waits for what is in flight, then ends it and stops. */
  drain(): Promise<void>
  /** Ends everything at once. */
  stop(): Promise<void>
}

/** Throws when a port is taken, a mount lacks a handler, or an option makes no sense. */
export async function startServer(options: ServerOptions): Promise<Server> {
  const engine = new Engine(options)
  const main = await openMain(engine)
  let uploads: Listener | null = null
  try {
    uploads = await openUploads(engine)
  } catch (error) {
    await main.close()
    throw error
  }
  engine.state = 'ready'
  const listeners = uploads ? [main, uploads] : [main]
  let draining: Promise<void> | null = null
  let stopping: Promise<void> | null = null
  const stop = () => (stopping ??= end(engine, listeners))
  return {
    port: main.port,
    uploadPort: uploads?.port ?? null,
    get state() {
      return engine.state
    },
    inflight: () => engine.inflight,
    sockets: () => engine.sockets.count,
    drain: () => (draining ??= drain(engine, listeners).then(stop)),
    stop,
  }
}

/** `refuse` takes no new connections; `close` also ends those there are. */
type Listener = { port: number; refuse(): void; close(): Promise<void> }

async function openMain(engine: Engine): Promise<Listener> {
  const { host, port, sharedPort } = engine.options
  const app = createApp()
  serveSockets(engine, app)
  app.any('/*', (response, request) => void serve(engine, new UwsTransport(response, request)))
  const { socket, port: actual } = await listen(app, host, port, sharedPort)
  let isListening = true
  const refuse = () => {
    if (isListening) stopListening(socket)
    isListening = false
  }
  return {
    port: actual,
    refuse,
    close() {
      refuse()
      app.close()
      return Promise.resolve()
    },
  }
}

/** For uplinks slower than the 16 KiB/s below which uWebSockets.js cuts a body. */
async function openUploads(engine: Engine): Promise<Listener | null> {
  const { host, uploadPort, limits } = engine.options
  if (uploadPort === null) return null
  const server = createServer({ connectionsCheckingInterval: 5000 }, (request, response) => {
    // What was read in one piece with a request that closed the connection is still handed out, and must not run.
    if (request.socket.destroyed) return
    void serve(engine, new NodeTransport(request, response, limits.uploadBodyTimeoutMs))
  })
  server.headersTimeout = 10_000
  server.keepAliveTimeout = 10_000
  // The engine's own limits answer with an envelope; this is the floor under them.
  server.requestTimeout = limits.uploadBodyTimeoutMs + 60_000
  await listenNode(server, host, uploadPort)
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

function listenNode(server: NodeServer, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) =>
      reject(new Error(`cannot listen on ${host}:${port} for uploads: the port is taken`, { cause })),
    )
    server.listen({ host, port, exclusive: true }, resolve)
  })
}

async function drain(engine: Engine, listeners: readonly Listener[]): Promise<void> {
  const { clock, drain: times } = engine.options
  engine.state = 'draining'
  if (times.lbDelayMs > 0) await new Promise<void>((resolve) => void clock.after(times.lbDelayMs, resolve))
  for (const listener of listeners) listener.refuse()
  engine.sockets.shutdown()
  if (await engine.idle(times.graceMs)) return
  engine.abortAll(new Error('the server stops'))
  await endSockets(engine)
  // What listens to its signal gets to say goodbye.
  await engine.idle(farewellMs)
}

async function end(engine: Engine, listeners: readonly Listener[]): Promise<void> {
  engine.state = 'stopped'
  engine.abortAll(new Error('the server stops'))
  await endSockets(engine)
  await Promise.all(listeners.map((listener) => listener.close()))
  engine.stalls.stop()
  await engine.idle(farewellMs)
}

/** A connection that is closed with bytes unread is reset, and a reset takes the close frame with it: so peers get a moment to read it first. */
async function endSockets({ sockets, options }: Engine): Promise<void> {
  if (sockets.count === 0) return
  sockets.endAll(1012, 'service restart')
  await new Promise<void>((resolve) => void options.clock.after(lingerMs, resolve))
}

const lingerMs = 200

/** Handlers that listen to their signal are done long before; one that does not is left behind. */
const farewellMs = 500
