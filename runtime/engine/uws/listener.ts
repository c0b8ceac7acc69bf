import { serve } from '../../http/lifecycle.ts'
import type { Engine } from '../engine.ts'
import { isLoopbackHost } from '../host.ts'
import type { ServerOptions } from '../options.ts'
import type { Listener, SocketOwner } from '../transport.ts'
import { upgrade } from '../upgrade.ts'
import { createApp, listen, stopListening, type TemplatedApp, type WebSocket, type WebSocketBehavior } from './app.ts'
import { UwsTransport, UwsUpgradeTransport } from './transport.ts'

/** The main port over uWebSockets.js: HTTP and sockets. Rejects when the port is taken or an option makes no sense. */
export async function openUws(engine: Engine): Promise<Listener> {
  const { host, port, sharedPort } = engine.options
  const app = createApp()
  serveSockets(engine, app)
  app.any('/*', (response, request) => void serve(engine, new UwsTransport(response, request, engine.options.clock)))
  const { socket, port: actual } = await listen(app, host, port, sharedPort)
  let isListening = true
  const refuse = () => {
    if (isListening) stopListening(socket)
    isListening = false
  }
  return {
    port: actual,
    refuse,
    async close() {
      refuse()
      // The answer to an isolated request may still wait for its turn.
      await new Promise(setImmediate)
      app.close()
    },
  }
}

/** uWebSockets.js keeps this with a socket: it copies the fields onto the socket. */
type UserData = { owner: SocketOwner }

/** Serves the sockets of all mounts. Throws when an option makes no sense, because uWebSockets.js would end the process. */
function serveSockets(engine: Engine, app: TemplatedApp): void {
  const { limits, echo } = engine.options
  if (!(limits.pingS >= 8 && limits.pingS <= 960)) throw new Error('pingS must be from 8 to 960')
  const opened: WebSocket<UserData>[] = []
  for (const pattern of engine.socketRoutes.patterns) {
    app.ws<UserData>(pattern, {
      maxPayloadLength: limits.frameBytesMax,
      // A peer that answers no ping is cut, and so is one that never answers a close frame, within 16 s.
      idleTimeout: limits.pingS,
      sendPingsAutomatically: true,
      // The limit is off: it would drop frames silently, where Connection notifies the session.
      maxBackpressure: 0,
      upgrade: (response, request, context) =>
        void upgrade(engine, new UwsUpgradeTransport(response, request, engine.options.clock, context, opened)),
      open: pushTo(opened),
      message: (ws, message, isBinary) => ownerOf(ws).receive(message, isBinary),
      drain: (ws) => ownerOf(ws).drained(),
      close: (ws, code) => ownerOf(ws).gone(code),
    })
  }
  if (echo) serveEcho(engine.options, app)
}

function ownerOf(ws: WebSocket<UserData>): SocketOwner {
  return (ws as WebSocket<UserData> & UserData).owner
}

/**
 * Until the upgrade call returns, uWebSockets.js reads a flag in memory that it has already freed (fixed upstream in
 * uNetworking/uWebSockets#1929). Any code that takes that memory can end the socket silently: a session that begins, or
 * the compiler when it meets a function for the first time. So no script runs within the call: `open` is a builtin, and
 * the session begins after the call with the socket that it pushed.
 */
function pushTo(opened: WebSocket<UserData>[]): NonNullable<WebSocketBehavior<UserData>['open']> {
  return opened.push.bind(opened) as (ws: unknown) => void
}

/** For conformance suites: the framing of the transport alone. Only on this machine, because no key is required. */
function serveEcho({ host }: ServerOptions, app: TemplatedApp): void {
  if (!isLoopbackHost(host)) {
    throw new Error(`the echo is served on a loopback address only, not on ${host}`)
  }
  app.ws('/', {
    maxPayloadLength: echoBytesMax,
    maxBackpressure: 4 * echoBytesMax,
    message: (ws, message, isBinary) => void ws.send(message, isBinary),
  })
}

/** The largest message of the known suites. */
const echoBytesMax = 16 * 1024 * 1024
