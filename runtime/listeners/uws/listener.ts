import type { Listener, SocketOwner } from '../../engine/transport.ts'
import type { Engine } from '../../http/engine.ts'
import { serve } from '../../http/lifecycle.ts'
import { echoBytesMax } from '../echo.ts'
import { upgrade } from '../upgrade.ts'
import { createApp, listen, stopListening, type TemplatedApp, type WebSocket, type WebSocketBehavior } from './app.ts'
import { type OpenedSocket, UwsTransport, UwsUpgradeTransport } from './transport.ts'

/** Opens the server's main TCP port over uWebSockets.js, for HTTP and sockets. Rejects if the port is taken. */
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
    // With SO_REUSEPORT every process listens by itself, so nothing is shared.
    share() {},
    refuse,
    async close() {
      refuse()
      // An isolated request's response may still wait for the next event-loop turn.
      await new Promise(setImmediate)
      app.close()
    },
  }
}

/** Serves all mounts' sockets. */
function serveSockets(engine: Engine, app: TemplatedApp): void {
  const { limits, echo } = engine.options
  const opened: OpenedSocket[] = []
  for (const pattern of engine.socketRoutes.patterns) {
    app.ws<unknown>(pattern, {
      maxPayloadLength: limits.frameBytesMax,
      // A peer is cut if it answers no ping. If it does not answer a close frame, it is cut within 16 s.
      idleTimeout: limits.pingS,
      sendPingsAutomatically: true,
      // The limit is off, because it would drop frames silently. The class Connection has a limit instead, and notifies
      // the session.
      maxBackpressure: 0,
      upgrade: (response, request, context) =>
        void upgrade(engine, new UwsUpgradeTransport(response, request, engine.options.clock, context, opened)),
      open: pushTo(opened),
      message: (ws, message, isBinary) => ownerOf(ws)?.receive(new Uint8Array(message), isBinary),
      drain: (ws) => ownerOf(ws)?.drained(),
      close(ws, code) {
        const owner = ownerOf(ws)
        // If a socket ends within the upgrade call, it has no owner yet.
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
 * Returns an `open` callback that runs no script. Until the upgrade call's cork returns, uWebSockets.js reads a flag in
 * freed memory (fixed upstream in uNetworking/uWebSockets#1929). If any code reuses this memory, the socket can end
 * silently. A starting session can reuse the memory, and so can the compiler at a new function, or V8 when a field gets
 * a value with a new shape. So within the cork no script runs and no field is set: the cork's callback is the upgrade
 * call itself, `open` is a builtin, and the pushed socket gets its owner afterwards.
 */
function pushTo(opened: OpenedSocket[]): NonNullable<WebSocketBehavior<unknown>['open']> {
  return opened.push.bind(opened) as (ws: unknown) => void
}

/** Returns every message, so conformance suites can test the transport's framing. */
function serveEcho(app: TemplatedApp): void {
  app.ws('/', {
    maxPayloadLength: echoBytesMax,
    maxBackpressure: 4 * echoBytesMax,
    message: (ws, message, isBinary) => void ws.send(message, isBinary),
  })
}
