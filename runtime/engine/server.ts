import type { ChildProcess } from 'node:child_process'
import { checkOptions } from './check-options.ts'
import { Drain } from './drain.ts'
import { Engine, type ServerState } from './engine.ts'
import { openNode, openUploads } from './node/listener.ts'
import type { ServerOptions } from './options.ts'
import type { Listener } from './transport.ts'
import { openUws } from './uws/listener.ts'

export type Server = {
  readonly port: number
  /** Null when there is no upload listener. */
  readonly uploadPort: number | null
  readonly state: ServerState
  /** Requests that are being served. */
  inflight(): number
  /** Open sockets. */
  sockets(): number
  /** Lets a child process that was started with `sharedPort: 'joins'` listen on the port, too. */
  share: (child: ChildProcess) => void
  /** Lets everything that is open end by itself, within the grace, and stops: see drain.ts. `lbDelayMs` replaces the setting. */
  drain(lbDelayMs?: number): Promise<void>
  /** Ends everything at once, also when a drain has begun. */
  stop(): Promise<void>
}

/** Throws when a port is taken, a mount lacks a handler, or an option makes no sense. */
export async function startServer(options: ServerOptions): Promise<Server> {
  checkOptions(options)
  const engine = new Engine(options)
  const main = await (options.engine === 'uws' ? openUws(engine) : openNode(engine))
  let uploads: Listener | null = null
  try {
    uploads = await openUploads(engine)
  } catch (error) {
    await main.close()
    throw error
  }
  engine.state = 'ready'
  const listeners = uploads ? [main, uploads] : [main]
  const closing = new Drain(engine, listeners)
  return {
    port: main.port,
    uploadPort: uploads?.port ?? null,
    get state() {
      return engine.state
    },
    inflight: () => engine.inflight,
    sockets: () => engine.sockets.count,
    share: main.share,
    drain: (lbDelayMs = options.drain.lbDelayMs) => closing.drain(lbDelayMs),
    stop: () => closing.stop(),
  }
}
