/**
 * Wraps uWebSockets.js, loaded by load.ts. The types are from its index.d.ts, with added types for functions in the
 * binary but not in index.d.ts.
 */

import type {
  HttpRequest,
  HttpResponse,
  TemplatedApp,
  us_listen_socket,
  us_socket_context_t,
  WebSocket,
  WebSocketBehavior,
} from 'uWebSockets.js'
import { type Binary, loadUws } from './load.ts'

export type {
  HttpRequest,
  HttpResponse,
  TemplatedApp,
  us_listen_socket,
  us_socket_context_t,
  WebSocket,
  WebSocketBehavior,
}

declare module 'uWebSockets.js' {
  interface TemplatedApp {
    listen(
      host: string,
      port: number,
      options: ListenOptions,
      done: (socket: us_listen_socket | false) => void,
    ): TemplatedApp
  }
}

/**
 * The values of us_socket's LIBUS_LISTEN_EXCLUSIVE_PORT. Without it SO_REUSEPORT is set, and a second server silently
 * takes half the traffic.
 */
const listenShared = 0
const listenExclusively = 1

/** Returns the loaded library. Throws if uWebSockets.js does not run here. server/choose.ts checks this first. */
function binary(): Binary {
  const uws = loadUws()
  if ('problem' in uws) throw new Error(uws.problem)
  return uws.binary
}

/** Makes an app without the `uWebSockets` banner header. */
export function createApp(): TemplatedApp {
  binary()._cfg('silent')
  return binary().App()
}

/**
 * Starts to listen. Resolves with the socket and its port. If `port` is 0, the system chooses the port. Rejects if the
 * address is taken.
 */
export function listen(
  app: TemplatedApp,
  host: string,
  port: number,
  shared: boolean,
): Promise<{ socket: us_listen_socket; port: number }> {
  return new Promise((resolve, reject) => {
    app.listen(host, port, shared ? listenShared : listenExclusively, (socket) => {
      if (socket) resolve({ socket, port: binary().us_socket_local_port(socket) })
      else
        reject(new Error(`cannot listen on ${host}:${port}: the port is taken, or the address is not this machine's`))
    })
  })
}

export function stopListening(socket: us_listen_socket): void {
  binary().us_listen_socket_close(socket)
}
