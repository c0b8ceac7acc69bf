/**
 * The only import of uWebSockets.js. The code follows its index.d.ts, plus the two things below that the binary has and
 * the file does not declare.
 */

import type * as Uws from 'uWebSockets.js'
import type {
  HttpRequest,
  HttpResponse,
  TemplatedApp,
  us_listen_socket,
  us_socket_context_t,
  WebSocket,
  WebSocketBehavior,
} from 'uWebSockets.js'
import { createRequire } from 'node:module'

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
 * us_socket: LIBUS_LISTEN_EXCLUSIVE_PORT. Without it SO_REUSEPORT is set, and a second server silently takes half of
 * the traffic.
 */
const listenShared = 0
const listenExclusively = 1

type Binary = typeof Uws & { _cfg(setting: 'silent'): void }

const require = createRequire(import.meta.url)
let loaded: Binary | null = null

/** Loaded by the first listener and not by an import, so that a machine without a matching binary gets a readable error. */
function binary(): Binary {
  if (loaded) return loaded
  try {
    loaded = require('uWebSockets.js') as Binary
  } catch (cause) {
    throw new Error(
      `the engine has no binary for Node ${process.versions.node} on this system; run \`parley doctor\``,
      { cause },
    )
  }
  return loaded
}

/** An app without the `uWebSockets` banner header. */
export function createApp(): TemplatedApp {
  binary()._cfg('silent')
  return binary().App()
}

/** Resolves with the socket and its port, which the system chooses when `port` is 0. Rejects when the address is taken. */
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
