import { serve } from '../../http/lifecycle.ts'
import { echoBytesMax } from '../echo.ts'
import type { Engine } from '../engine.ts'
import type { Listener, SocketOwner } from '../transport.ts'
import { upgrade } from '../upgrade.ts'
import { createApp, listen, stopListening, type TemplatedApp, type WebSocket, type WebSocketBehavior } from './app.ts'
import { UwsTransport, UwsUpgradeTransport } from './transport.ts'

/** The main port over uWebSockets.js: HTTP and sockets. Rejects when the port is taken. */
export async function openUws(engine: Engine): Promise<Listener> {
  const { host, port, sharedPort } = engine.options
  const app = createApp()
  serveSockets(engine, app)
  app.any('/*', (response, request) => void serve(engine, new UwsTransport(response, request, engine.options.clock)))
  const { socket, port: actual } = await listen(app, host, port, sharedPort !== 'no')
  let isListening = true
  const refuse = () => {
    if (isListening) stopListening(socket)
    isListening = false
  }
  return {
    port: actual,
    // With SO_REUSEPORT the kernel lets every process listen by itself.
    share() {},
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

/** Serves the sockets of all mounts. */
function serveSockets(engine: Engine, app: TemplatedApp): void {
  const { limits, echo } = engine.options
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
      message: (ws, message, isBinary) => ownerOf(ws).receive(new Uint8Array(message), isBinary),
      drain: (ws) => ownerOf(ws).drained(),
      close: (ws, code) => ownerOf(ws).gone(code),
    })
  }
  if (echo) serveEcho(app)
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

/** For conformance suites: the framing of the transport alone. */
function serveEcho(app: TemplatedApp): void {
  app.ws('/', {
    maxPayloadLength: echoBytesMax,
    maxBackpressure: 4 * echoBytesMax,
    message: (ws, message, isBinary) => void ws.send(message, isBinary),
  })
}
