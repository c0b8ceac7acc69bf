import { Engine, type ServerState } from './engine.ts'
import { openUploads } from './node/listener.ts'
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
  /** Refuses new requests, waits for those in flight, then ends them and stops. */
  drain(): Promise<void>
  /** Ends everything at once. */
  stop(): Promise<void>
}

/** Throws when a port is taken, a mount lacks a handler, or an option makes no sense. */
export async function startServer(options: ServerOptions): Promise<Server> {
  const engine = new Engine(options)
  const main = await openUws(engine)
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

async function drain(engine: Engine, listeners: readonly Listener[]): Promise<void> {
  const { clock, drain: times } = engine.options
  engine.state = 'draining'
  if (times.lbDelayMs > 0) await new Promise<void>((resolve) => void clock.after(times.lbDelayMs, resolve))
  for (const listener of listeners) listener.refuse()
  engine.sockets.shutdown()
  if (await engine.idle(times.graceMs)) return
  engine.abortAll(new Error('the server stops'))
  await endSockets(engine)
  // Handlers that listen to their signal can still answer.
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

/**
 * Waits a moment after the close frames: a connection that is closed with unread bytes is reset, and a reset takes the
 * close frame with it.
 */
async function endSockets({ sockets, options }: Engine): Promise<void> {
  if (sockets.count === 0) return
  sockets.endAll(1012, 'service restart')
  await new Promise<void>((resolve) => void options.clock.after(lingerMs, resolve))
}

const lingerMs = 200

/** Handlers that listen to their signal end long before. One that does not is left running. */
const farewellMs = 500
