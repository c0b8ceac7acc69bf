/** Hangs the sockets into a uWebSockets.js application. */

import type { Live, UserData } from '../../ws/connection.ts'
import type { Engine } from '../engine.ts'
import { isLoopbackHost } from '../loopback.ts'
import type { ServerOptions } from '../options.ts'
import { upgrade } from '../upgrade.ts'
import type { TemplatedApp, WebSocketBehavior } from './binary.ts'

/** Throws when an option makes no sense; uWebSockets.js would end the process. */
export function serveSockets(engine: Engine, app: TemplatedApp): void {
  const { limits, echo } = engine.options
  if (!(limits.pingS >= 8 && limits.pingS <= 960)) throw new Error('pingS must be from 8 to 960')
  const opened: Live[] = []
  for (const address of engine.socketRoutes.addresses) {
    app.ws<UserData>(address, {
      maxPayloadLength: limits.frameBytesMax,
      // A peer that answers no ping is cut; so is one that never answers a close frame, within 16 s.
      idleTimeout: limits.pingS,
      sendPingsAutomatically: true,
      // None of its own: it would drop frames without a word where Connection tells the session.
      maxBackpressure: 0,
      upgrade: (response, request, context) => void upgrade(engine, opened, response, request, context),
      open: pushTo(opened),
      message: (ws, message, isBinary) => (ws as Live).connection.receive(message, isBinary),
      drain: (ws) => (ws as Live).connection.drained(),
      close: (ws, code) => (ws as Live).connection.gone(code),
    })
  }
  if (echo) serveEcho(engine.options, app)
}

/**
 * Until its call returns uWebSockets.js reads a flag in memory that it has already freed (mended upstream in uNetworking/uWebSockets#1929), and whatever
 * takes that memory can end the socket without a word: a session that begins, or the compiler as it meets a function for the first time. So within
 * the call no script runs at all: `open` is a builtin, and the session begins with what it has kept.
 */
function pushTo(opened: Live[]): NonNullable<WebSocketBehavior<UserData>['open']> {
  return opened.push.bind(opened) as (ws: unknown) => void
}

/** For conformance suites: the carrier's framing without anything of ours in between. On this machine only, since nobody is asked for a key. */
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
