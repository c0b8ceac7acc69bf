/**
 * A serving process: its context, its capabilities, and the HTTP engine. These parts close in reverse order, even if
 * the start fails.
 */
import type { Caller } from '../domain/records/organization.ts'
import type { ParleyConfig } from '../generated/config/types.ts'
import { createDenials } from '../handlers/audit/denials.ts'
import { createGatedAuthenticate } from '../handlers/platform/gates.ts'
import { authorityOf, isEveryAddress, isLoopbackHost } from '../runtime/engine/host.ts'
import type { RequestShares } from '../runtime/engine/options.ts'
import type { Environment } from '../runtime/process/config.ts'
import { makeDataDir } from '../runtime/process/data-dir.ts'
import { startWorkers, type Workers } from '../runtime/process/workers.ts'
import { chooseEngine, describeEngine, type EngineChoice } from '../runtime/server/choose.ts'
import { type Server, startServer } from '../runtime/server/server.ts'
import { startMetricsServer } from '../runtime/telemetry/metrics-server.ts'
import type { App } from './app.ts'
import { bootstrap, checkSealed, type FirstKey, localKeyOf } from './bootstrap.ts'
import { type Capabilities, openCapabilities } from './capabilities.ts'
import { clientsOf } from './clients.ts'
import { consoleSetupCode } from './console.ts'
import { openApp, type Replacements } from './context.ts'
import { type Waiting, waitingOf, waitingWords } from './draining.ts'
import { type Engines, openEngines } from './engines.ts'
import { withLoopbackTools } from './first-run.ts'
import { checkServing } from './settings.ts'
import { createSurfaces } from './surfaces.ts'

/**
 * Tests and development run the sources, and check sent answers and frames against the contract. The product does not,
 * and its build leaves this module out.
 */
const checks = import.meta.url.endsWith('.ts') ? await import('./answer-checks.ts') : null

/** A running Parley. */
export type Gateway = {
  /** The URL for programs on this machine. */
  url: string
  /** The URL of the page `/try` for a person; null if the page is not reachable. */
  page: string | null
  firstKey: FirstKey
  /**
   * The code that lets a person make the console's first account. Null if an account exists, or if no code is needed.
   */
  setupCode: string | null
  /** The HTTP engine's name and the reason for choosing it, as text for a person. */
  engine: string
  /** Counts this process's open calls, requests and sockets, and predicts when a drain started now would end. */
  waiting(lbDelayMs: number): Waiting
  /** Drains, then closes everything. `lbDelayMs` replaces the setting. */
  stop(lbDelayMs?: number): Promise<void>
  /** Ends all requests and sockets at once, without a drain. */
  force(): void
}

export type Start = Replacements & {
  env: Environment
  /** Receives a progress message for the terminal if the start is slow. */
  progress?: (message: string) => void
  /** Replaces the configured engines. */
  engines?: (app: App) => Promise<Engines>
}

/** Starts this process and its workers. Throws ConfigError if no server can start with these settings. */
export async function startGateway(given: ParleyConfig, start: Start): Promise<Gateway> {
  const { env, progress = () => {}, engines = openEngines, ...replacements } = start
  checkServing(given, env)
  const config = withLoopbackTools(given)
  const choice = chooseEngine(config.engine)
  if (config.databaseUrl === null) makeDataDir(config.dataDir)
  let server: Server | null = null
  const localUrl = () => localUrlOf(config, server)
  const { app, close, closeFor } = await openApp(config, { env, progress, localUrl }, replacements)
  try {
    app.metrics.engine(choice.engine, choice.reason)
    if (choice.isForeign)
      app.log.warn({ reason: choice.reason }, 'the HTTP engine was not loaded: its file has changed')
    const firstKey = app.worker === 0 ? await bootstrap(app) : ({ kind: 'stored' } as const)
    if (app.worker === 0) await checkSealed(app)
    const setupCode = app.worker === 0 ? await consoleSetupCode(app) : null
    const capabilities = await openCapabilities(app, await engines(app))
    server = await listen(app, capabilities, choice, () => server)
    capabilities.start()
    await capabilities.lines.trunks?.open(capabilities.sessions.phone.events)
    if (config.adminPort !== null) await openMetrics(app)
    const workers = startOthers(app, server)
    return gatewayOf({ app, firstKey, setupCode, choice, server, workers, capabilities, close })
  } catch (error) {
    app.closing(() => server?.stop())
    return closeFor(error)
  }
}

type Running = {
  app: App
  firstKey: FirstKey
  setupCode: string | null
  choice: EngineChoice
  server: Server
  workers: Workers
  capabilities: Capabilities
  close: () => Promise<void>
}

function gatewayOf({ app, firstKey, setupCode, choice, server, workers, capabilities, close }: Running): Gateway {
  const { config, clock, log } = app
  const { live } = capabilities.sessions
  // All processes drain together. If one process still accepted requests while the other processes drain, it would get
  // all new requests.
  const drain = (lbDelayMs: number) => {
    live.drain()
    return Promise.all([server.drain(lbDelayMs), workers.stop(lbDelayMs)])
  }
  const url = localUrlOf(config, server)
  const waiting = (lbDelayMs: number) => {
    const open = { calls: live.size, requests: server.inflight(), sockets: server.sockets() }
    return waitingOf(open, config.drain, lbDelayMs, clock.nowMs())
  }
  return {
    url,
    page: pageOf(config, url),
    firstKey,
    setupCode,
    engine: describeEngine(choice),
    waiting,
    async stop(lbDelayMs = config.drain.lbDelayMs) {
      const waited = waiting(lbDelayMs)
      log.info(
        waited,
        waitingWords(waited, (ms) => new Date(ms).toISOString()),
      )
      await drain(lbDelayMs)
      await close()
    },
    force() {
      workers.force()
      void server.stop()
    },
  }
}

/**
 * Returns the URL of the page `/try`. Other machines get the page if the deployer allows it. Null if the page is not
 * reachable.
 */
function pageOf(config: ParleyConfig, url: string): string | null {
  if (config.try && config.publicUrl !== null) return `${config.publicUrl}/try`
  return config.try || isLoopbackHost(config.host) ? `${url}/try` : null
}

function urlOf({ host }: ParleyConfig, { port }: Server): string {
  return `http://${authorityOf(host, port)}`
}

/**
 * Returns the server's URL for programs on this machine. If the server listens on all network interfaces, the URL has
 * the loopback address.
 */
function localUrlOf(config: ParleyConfig, server: Server | null): string {
  if (server === null) throw new Error('the address of this server is not known yet')
  return urlOf({ ...config, host: isEveryAddress(config.host) ? '127.0.0.1' : config.host }, server)
}

/** Returns the chosen HTTP engine and the reason, as text for a person. */
export function engineOf({ engine }: ParleyConfig): string {
  return describeEngine(chooseEngine(engine))
}

async function openMetrics({ config, worker, metrics, closing }: App): Promise<void> {
  const { adminHost, adminPort } = config
  if (adminPort === null) return
  const server = await startMetricsServer(adminHost, adminPort === 0 ? 0 : adminPort + worker, metrics.registry)
  closing(() => server.close())
}

/** Starts the other processes on the same port. Only the first process does this. */
function startOthers({ config, env, worker, log }: App, server: Server): Workers {
  return startWorkers(worker === 0 ? config.processes - 1 : 0, {
    env: { ...env, PARLEY_PORT: String(server.port) },
    graceMs: Math.max(config.drain.graceMs, config.drain.sessionsMs),
    share: server.share,
    failed: (err) => log.error({ err }, 'another process could not be started, or not be reached'),
  })
}

function listen(
  app: App,
  capabilities: Capabilities,
  engine: EngineChoice,
  running: () => Server | null,
): Promise<Server> {
  const { config, env, worker, store, owners, clock, ids, log, metrics, tracing } = app
  const { live } = capabilities.sessions
  const isFirst = worker === 0
  const readyChecks = readyChecksOf(app, running)
  const denials = createDenials({ audit: store.audit, clock, log })
  const serving = { localKey: localKeyOf(config), readyChecks, engine, denials }
  const { mounts, sockets } = createSurfaces(app, capabilities, serving)
  return startServer({
    engine: engine.engine,
    host: config.host,
    port: config.port,
    sharedPort: config.processes === 1 ? 'no' : isFirst ? 'opens' : 'joins',
    uploadPort: isFirst ? config.uploadPort : null,
    region: config.region,
    headerPrefix: clientsOf(config).headerPrefix,
    mounts: checks ? mounts.map(checks.withAnswerChecks) : mounts,
    sockets: checks ? sockets.map(checks.withFrameChecks) : sockets,
    relay: { dataDir: config.dataDir, name: store.instanceId, socketsMax: config.sessions.relayedMax },
    echo: env['PARLEY_TEST_ECHO'] === '1' && isLoopbackHost(config.host),
    authenticate: createGatedAuthenticate({
      ...store,
      ...{ owners, denials, keepsRemovedSend: config.rmsg.keepRemovedSend },
    }),
    requestId: ids.request,
    shares: sharesOf(app, capabilities),
    limits: { ...config.limits, ...config.realtime, uploadMemory: config.uploadMemory },
    edgeQuota: {
      requests: config.edgeQuota,
      instances: () => store.liveInstances(),
      shared: store.addressCounts,
      windowS: config.edgeWindowS,
      trustedProxies: config.trustedProxies,
      onUnnamedProxy: (address) =>
        log.warn({ address }, 'all clients of this proxy share one address quota: name it in trustedProxies'),
      addressesMax: config.limits.addressesMax,
    },
    drain: { ...config.drain, extension: { ms: config.drain.sessionsMs, isNeeded: () => live.size > 0 } },
    clock,
    log,
    metrics,
    tracing,
  })
}

/**
 * Each request counts toward its organization's share of the concurrent requests. A request to a model acquires its
 * concurrency lease before its body is read.
 */
function sharesOf({ config, owners }: App, { operations }: Capabilities): RequestShares {
  const { earlyLeases } = operations.dispatch
  return {
    owners,
    part: config.limits.organizationShare,
    ownerOf: (caller) => (caller as Caller).organization.id,
    admitBody: (caller, requestId, { id, scope }) =>
      scope === 'router' && id !== 'previewRouting' ? (earlyLeases?.take(caller as Caller, requestId) ?? null) : null,
  }
}

function readyChecksOf({ store }: App, running: () => Server | null) {
  const draining = () => {
    const server = running()
    return server && server.state !== 'ready' ? 'The server will end soon: send requests to another one.' : null
  }
  return [
    { name: 'store', check: () => reasonOf(store.ping()) },
    { name: 'drain', check: () => Promise.resolve(draining()) },
  ]
}

function reasonOf(done: Promise<unknown>): Promise<string | null> {
  return done.then(
    () => null,
    () => 'The database does not answer, or it cannot write.',
  )
}
