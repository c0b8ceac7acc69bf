import type { ChildProcess } from 'node:child_process'
import type { ServerOptions } from '../engine/options.ts'
import { ForeignFolderError } from '../engine/relay/folder.ts'
import { openRelay, type Relay } from '../engine/relay/relay.ts'
import type { RelayRequest } from '../engine/relay/request.ts'
import type { Listener } from '../engine/transport.ts'
import { Engine, type ServerState } from '../http/engine.ts'
import { openNode, openUploads } from '../listeners/node/listener.ts'
import { admitRelayed } from '../listeners/upgrade.ts'
import { openUws } from '../listeners/uws/listener.ts'
import { Capacity } from '../shares/capacity.ts'
import { Loops } from '../timing/loops.ts'
import { checkOptions } from './check-options.ts'
import { Drain } from './drain.ts'

export type Server = {
  readonly port: number
  /** Null if there is no upload listener. */
  readonly uploadPort: number | null
  readonly state: ServerState
  /** The number of requests in flight. */
  inflight(): number
  /** The number of open sockets. */
  sockets(): number
  /** Lets a child process, started with `sharedPort: 'joins'`, listen on the port, too. */
  share: (child: ChildProcess) => void
  /**
   * Lets all requests and sockets end by themselves within the grace, and stops: see drain.ts. `lbDelayMs` replaces the
   * setting.
   */
  drain(lbDelayMs?: number): Promise<void>
  /** Ends everything at once, also during a drain. */
  stop(): Promise<void>
}

/**
 * The interval for exchanging request counts per IP address. Within it, an IP address can exceed its quota by its
 * requests to other instances.
 */
const exchangeMs = 100

/**
 * Starts the HTTP engine and its listeners. Throws if a port is taken, a mount lacks a handler, or an option makes no
 * sense.
 */
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
  const relay = await openRelayOf(engine)
  engine.state = 'ready'
  const listeners = uploads ? [main, uploads] : [main]
  const closing = new Drain(engine, listeners)
  const stopExchange = startExchange(engine)
  const end = async () => {
    await stopExchange()
    await relay?.close()
  }
  return {
    port: main.port,
    uploadPort: uploads?.port ?? null,
    get state() {
      return engine.state
    },
    inflight: () => engine.inflight,
    sockets: () => engine.sockets.count,
    share: main.share,
    drain: (lbDelayMs = options.drain.lbDelayMs) => closing.drain(lbDelayMs).then(end),
    stop: () => closing.stop().then(end),
  }
}

/** Starts the exchange of request counts per IP address. Returns the function to stop it. */
function startExchange({ options, quota }: Engine): () => Promise<void> {
  const loops = new Loops(options.clock, { warn: (fields, message) => options.log.error(fields, message) })
  if (options.edgeQuota.shared)
    loops.start({ name: 'counts of addresses', everyMs: exchangeMs, run: () => quota.exchange() })
  return () => loops.stop(exchangeMs)
}

/**
 * Opens the relay. Null if the data folder cannot hold sockets: the server goes on, but other processes cannot reach
 * its sessions.
 */
async function openRelayOf(engine: Engine): Promise<Relay | null> {
  const { relay: settings, limits, shares, clock, log } = engine.options
  if (settings === null) return null
  const { frameBytesMax, bufferBytesMax } = limits
  const relayLimits = {
    socketsMax: settings.socketsMax,
    messageBytesMax: Math.max(frameBytesMax, bufferBytesMax),
    queuedBytesMax: bufferBytesMax,
  }
  try {
    const places = new Capacity({ max: settings.socketsMax, part: shares.part }, shares.owners)
    const admit = (request: RelayRequest) => admitRelayed(engine, request, places)
    const relay = await openRelay(settings, { clock, limits: relayLimits, shares, admit })
    engine.relay = relay.client
    return relay
  } catch (err) {
    const message = 'sockets cannot be relayed between the processes of this machine'
    if (err instanceof ForeignFolderError) log.error({ err }, message)
    // A missing relay is normal if the process has no writable folder. The reason names the folder.
    else log.info({ reason: (err as Error).message }, message)
    return null
  }
}
