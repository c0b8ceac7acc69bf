/** Starts a serving process: store, providers, engine. They are closed in the opposite order, also when a start fails. */

import path from 'node:path'
import { checkServing } from './check-serving.ts'
import { keptSecret, masterKeyOf, openConfiguredStore } from './configured-store.ts'
import type { Provider } from './domain/ports/provider.ts'
import type { ParleyConfig } from './generated/config/types.ts'
import { createGatedAuthenticate } from './handlers/platform/gates.ts'
import { openCatalog } from './providers/catalog/rows.ts'
import { updatedCatalogFile } from './providers/catalog/update.ts'
import { createProviders } from './providers/registry.ts'
import type { WarmOutcome } from './providers/wire/socket.ts'
import { systemClock, systemIds } from './runtime/clock.ts'
import type { Environment } from './runtime/config.ts'
import { makeDataDir } from './runtime/data-dir.ts'
import { chooseEngine, describeEngine, type EngineChoice } from './runtime/engine/choose.ts'
import { authorityOf, isLoopbackHost } from './runtime/engine/host.ts'
import { type Server, startServer } from './runtime/engine/server.ts'
import { localKeyFile, readLocalSecret, removeLocalSecret } from './runtime/local-secret.ts'
import { createLog } from './runtime/log.ts'
import { createMetrics } from './runtime/metrics.ts'
import { startMetricsServer } from './runtime/metrics-server.ts'
import { outboundDefaults } from './runtime/outbound/limits.ts'
import { createTracing } from './runtime/tracing.ts'
import { startWorkers, workerVariable } from './runtime/workers.ts'
import { newSecret } from './store/key-secret.ts'
import type { Store } from './store/store.ts'
import { createSurfaces, type Surfaces } from './surfaces.ts'

/**
 * Answers are checked against the contract in tests and development, which run the sources. The compiled product does
 * not check them.
 */
const checkResponses = import.meta.url.endsWith('.ts')

/** A running Parley. */
export type Gateway = {
  url: string
  /** The page `/try`, which is served on loopback only. */
  page: string | null
  key: string | null
  /** The engine that serves, and why, in words. */
  engine: string
  /** Requests and sockets that are open in this process. */
  open(): number
  /** Drains first. `lbDelayMs` replaces the setting. */
  stop(lbDelayMs?: number): Promise<void>
  /** Gives up what is open. */
  force(): void
}

export async function startGateway(
  config: ParleyConfig,
  env: Environment,
  progress: (message: string) => void,
): Promise<Gateway> {
  checkServing(config, env)
  const engine = chooseEngine(config.engine)
  const worker = Number(env[workerVariable] ?? 0)
  const log = createLog(config.logLevel)
  const metrics = createMetrics()
  metrics.engine(engine.engine, engine.reason)
  if (config.databaseUrl === null) makeDataDir(config.dataDir)
  // Before the migrations, so that a start that lacks a secret leaves the database as it was.
  const masterKey = masterKeyOf(config)
  const store = await openConfiguredStore(config, log, progress, 'serve')
  // Newest first, so that a failed start also closes its parts in the opposite order.
  const closing: (() => unknown)[] = [() => store.close({ stopPostgres: true })]
  const closeAll = async () => {
    for (const close of closing) await close()
  }
  try {
    const key = worker === 0 ? await bootstrap(store, config, log) : null
    if (worker === 0) await checkSealed(store, log)
    const providers = await openProviders(config, env, log, metrics)
    closing.unshift(() => Promise.all(providers.map((provider) => provider.close())))
    const tracing = await createTracing(env)
    closing.unshift(() => tracing?.close())
    const localKey = isReachedHereOnly(config) ? readLocalSecret(config.dataDir, localKeyFile) : null
    const first = worker === 0
    const parts = { config, env, engine, store, providers, log, metrics, tracing, localKey, masterKey, first }
    const { server, sessions, records, webhooks, phoneLines, phoneNumbers, richMessages } = await listen(parts)
    for (const part of [phoneLines, phoneNumbers, richMessages, webhooks, records, sessions])
      closing.unshift(() => part.close())
    watchSessions(parts, sessions.live)
    await phoneLines.serveTrunks(sessions.phone.events)
    if (config.adminPort !== null) {
      const { adminHost, adminPort } = config
      const admin = await startMetricsServer(adminHost, adminPort === 0 ? 0 : adminPort + worker, metrics.registry)
      closing.unshift(admin.close)
    }
    const workers = startWorkers(worker === 0 ? config.processes - 1 : 0, {
      env: { ...env, PARLEY_PORT: String(server.port) },
      graceMs: Math.max(config.drain.graceMs, config.drain.sessionsMs),
      share: server.share,
      failed: (err) => log.error({ err }, 'another process could not be started, or not be reached'),
    })
    // All processes drain together: one that still took requests while another drains would get all of them.
    const drain = (lbDelayMs: number) => {
      sessions.live.drain()
      return Promise.all([server.drain(lbDelayMs), workers.stop(lbDelayMs)])
    }
    const url = `http://${authorityOf(config.host, server.port)}`
    return {
      url,
      page: isLoopbackHost(config.host) ? `${url}/try` : null,
      key,
      engine: describeEngine(engine),
      open: () => server.inflight() + server.sockets(),
      async stop(lbDelayMs = config.drain.lbDelayMs) {
        await drain(lbDelayMs)
        await closeAll()
      },
      force() {
        workers.force()
        void server.stop()
      },
    }
  } catch (error) {
    await closeAll()
    throw error
  }
}

/** Behind a proxy or a tunnel of this machine strangers have a loopback address too. */
function isReachedHereOnly({ host, publicUrl }: ParleyConfig): boolean {
  return isLoopbackHost(host) && publicUrl === null
}

/** The engine that serves, and why, in words. */
export function engineOf({ engine }: ParleyConfig): string {
  return describeEngine(chooseEngine(engine))
}

/**
 * The key to show. A server for this machine alone gives an empty store a key, which is kept in the data folder for the
 * command line.
 */
async function bootstrap({ organizations }: Store, config: ParleyConfig, log: Log): Promise<string | null> {
  const hasSimulatedNumber = config.carrier.adapter === 'simulator'
  if (config.bootstrapKey !== null) {
    const outcome = await organizations.bootstrap({ key: config.bootstrapKey, hasSimulatedNumber })
    if (outcome === 'refused')
      log.warn({}, 'PARLEY_BOOTSTRAP_KEY works on an empty store only, and this one has organizations already')
    return null
  }
  if (!isReachedHereOnly(config)) return null
  const kept = readLocalSecret(config.dataDir, localKeyFile)
  if (kept === null && !(await organizations.isEmpty())) return null
  const key = keptSecret(config, 'PARLEY_BOOTSTRAP_KEY', localKeyFile, () => newSecret(false).secret)
  if ((await organizations.bootstrap({ key, hasSimulatedNumber })) !== 'refused') return key
  // An instance with another data folder was quicker. The command line must not find a key that does not work.
  if (kept === null) removeLocalSecret(config.dataDir, localKeyFile)
  return null
}

/**
 * Logs unreadable secrets at the start and not at the first request that needs one. Requests are routed to other
 * providers.
 */
async function checkSealed({ sealedSecrets }: Store, log: Log): Promise<void> {
  const unreadable = await sealedSecrets.unreadable()
  if (unreadable > 0)
    log.error(
      { unreadable },
      'provider keys or secrets of tools were sealed with another master key: set PARLEY_MASTER_KEY to it, or name it in PARLEY_PREVIOUS_MASTER_KEYS',
    )
}

type Log = ReturnType<typeof createLog>
type Metrics = ReturnType<typeof createMetrics>

export function openProviders(
  config: ParleyConfig,
  env: Environment,
  log: Log,
  metrics?: Metrics,
): Promise<Provider[]> {
  const { connectMs, firstTokenMs, firstAudioMs, idleMs, transcriptionMs } = config.timeouts
  const { enabled, warm, ...local } = config.local
  // Only a server has a next request to wait for, and one warm engine is enough for all its processes.
  const isFirstServer = metrics !== undefined && Number(env[workerVariable] ?? 0) === 0
  return createProviders(config.providers, env, {
    limits: {
      ...outboundDefaults,
      connectMs,
      firstByteMs: Math.max(firstTokenMs, firstAudioMs),
      idleMs,
      totalMs: transcriptionMs,
      connectionsMax: config.limits.providerConnectionsMax,
      answerBytesMax: config.limits.answerBytesMax,
      warmSockets: config.warmSockets,
    },
    clock: systemClock,
    catalog: openCatalog(path.join(config.dataDir, updatedCatalogFile)),
    ...(metrics && { observeWarm: (provider: string, outcome: WarmOutcome) => metrics.warmSocket(provider, outcome) }),
    local: enabled ? { ...local, warm: warm && isFirstServer, clock: systemClock, log } : null,
    ollamaUrl: enabled ? 'http://127.0.0.1:11434/v1' : null,
  })
}

function watchSessions({ metrics, config }: Listening, live: Surfaces['sessions']['live']): void {
  metrics.watchSessions(() => live.size)
  metrics.watchSessionsMax(() => config.sessions.max)
  metrics.watchCalls(() => live.countByKind().map(([kind, value]) => ({ labels: { kind }, value })))
}

type Listening = {
  config: ParleyConfig
  env: Environment
  store: Store
  log: Log
  metrics: ReturnType<typeof createMetrics>
  tracing: Awaited<ReturnType<typeof createTracing>>
  providers: readonly Provider[]
  localKey: string | null
  masterKey: string
  /** True in the one process of several that also has the upload port. */
  first: boolean
  engine: EngineChoice
}

async function listen(
  parts: Listening,
): Promise<
  { server: Server } & Pick<
    Surfaces,
    'sessions' | 'records' | 'webhooks' | 'phoneLines' | 'phoneNumbers' | 'richMessages'
  >
> {
  const { config, store, log, metrics, tracing } = parts
  let server: Server | null = null
  const draining = () =>
    server && server.state !== 'ready' ? 'The server will end soon: send requests to another one.' : null
  const readyChecks = [
    { name: 'store', check: () => reasonOf(store.ping()) },
    { name: 'drain', check: () => Promise.resolve(draining()) },
  ]
  const { sessions, records, webhooks, phoneLines, phoneNumbers, richMessages, ...surfaces } = await createSurfaces({
    ...parts,
    readyChecks,
  })
  server = await startServer({
    engine: parts.engine.engine,
    host: config.host,
    port: config.port,
    sharedPort: config.processes === 1 ? 'no' : parts.first ? 'opens' : 'joins',
    uploadPort: parts.first ? config.uploadPort : null,
    region: config.region,
    headerPrefix: config.headerPrefix,
    ...surfaces,
    relay: { dataDir: config.dataDir, name: store.instanceId, socketsMax: config.sessions.relayedMax },
    echo: parts.env['PARLEY_TEST_ECHO'] === '1' && isLoopbackHost(config.host),
    authenticate: createGatedAuthenticate({ ...store, keepsRemovedSend: config.rmsg.keepRemovedSend }),
    requestId: systemIds.request,
    limits: { ...config.limits, ...config.realtime, uploadMemory: config.uploadMemory },
    edgeQuota: {
      requests: config.edgeQuota,
      instances: () => store.liveInstances(),
      shared: store.addressCounts,
      windowS: config.edgeWindowS,
      trustedProxies: config.trustedProxies,
      addressesMax: config.limits.addressesMax,
    },
    drain: { ...config.drain, extension: { ms: config.drain.sessionsMs, isNeeded: () => sessions.live.size > 0 } },
    clock: systemClock,
    log,
    metrics,
    tracing,
    checkResponses,
  })
  const url = `http://${authorityOf(config.host, server.port)}`
  records.listening(url)
  // Lines of this machine reach a server that listens at all of its addresses by the loopback address.
  phoneLines.listening(url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//127.0.0.1:'))
  return { server, sessions, records, webhooks, phoneLines, phoneNumbers, richMessages }
}

function reasonOf(done: Promise<unknown>): Promise<string | null> {
  return done.then(
    () => null,
    () => 'The database does not answer.',
  )
}
