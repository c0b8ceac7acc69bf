import type { Listener, SocketOwner } from '../../engine/transport.ts'
import type { Engine } from '../../http/engine.ts'
import { serve } from '../../http/lifecycle.ts'
import { echoBytesMax } from '../echo.ts'
import { upgrade } from '../upgrade.ts'
import { createApp, listen, stopListening, type TemplatedApp, type WebSocket, type WebSocketBehavior } from './app.ts'
import { type OpenedSocket, UwsTransport, UwsUpgradeTransport } from './transport.ts'

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

/** Serves the sockets of all mounts. */
function serveSockets(engine: Engine, app: TemplatedApp): void {
  const { limits, echo } = engine.options
  const opened: OpenedSocket[] = []
  for (const pattern of engine.socketRoutes.patterns) {
    app.ws<unknown>(pattern, {
      maxPayloadLength: limits.frameBytesMax,
      // A peer that answers no ping is cut, and so is one that never answers a close frame, within 16 s.
      idleTimeout: limits.pingS,
      sendPingsAutomatically: true,
      // The limit is off: it would drop frames silently, where Connection notifies the session.
      maxBackpressure: 0,
      upgrade: (response, request, context) =>
        void upgrade(engine, new UwsUpgradeTransport(response, request, engine.options.clock, context, opened)),
      open: pushTo(opened),
      message: (ws, message, isBinary) => ownerOf(ws)?.receive(new Uint8Array(message), isBinary),
      drain: (ws) => ownerOf(ws)?.drained(),
      close(ws, code) {
        const owner = ownerOf(ws)
        // A socket that ends within the upgrade call has no owner yet.
        if (owner) owner.gone(code)
        else opened.pop()
      },
    })
  }
  if (echo) serveEcho(app)
}

function ownerOf(ws: WebSocket<unknown>): SocketOwner | undefined {
  return (ws as OpenedSocket).owner
}

/**
 * Until the cork of the upgrade call returns, uWebSockets.js reads a flag in memory that it has already freed (fixed
 * upstream in uNetworking/uWebSockets#1929). Any code that takes that memory can end the socket silently: a session that
 * begins, the compiler when it meets a function, or V8 when a field gets a value of a new shape. So no script runs within
 * that cork, and no field is set: its callback is the upgrade call itself, `open` is a builtin, and the socket that it
 * pushed gets its owner after it.
 */
function pushTo(opened: OpenedSocket[]): NonNullable<WebSocketBehavior<unknown>['open']> {
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
