/**
 * Starts the product in the test's process: a server on a free port, with a separate database in the run's Postgres. A
 * start takes a tenth of a second, and 0.05 s of processor time. The built program with a separate Postgres takes 20
 * times as much.
 */
import { rmSync } from 'node:fs'
import { t as root } from 'tap'
import { type Gateway, type Start, startGateway } from '../app/gateway.ts'
import type { Clock } from '../domain/ports/system.ts'
import { configKeys } from '../generated/config/keys.ts'
import type { ParleyConfig } from '../generated/config/types.ts'
import { validateConfig } from '../generated/config/validator.ts'
import { loadConfig } from '../runtime/process/config.ts'
import { createLogTo } from '../runtime/telemetry/log.ts'
import { systemClock } from '../runtime/timing/clock.ts'
import { engineAsked } from './engine/engines.ts'
import { freshDataDir, testKey } from './installation.ts'
import { TestCluster } from './store/cluster.ts'

export type Settings = Readonly<Record<string, string>>

export type TestServer = {
  url: string
  key: string
  dataDir: string
  databaseUrl: string
  gateway: Gateway
  /** The log lines so far, as JSON. */
  output(): string
  /** Drains for a moment, closes and removes everything. */
  stop(): Promise<void>
}

const shared = new Map<string, Promise<TestServer>>()

/**
 * Returns the server with these settings that all tests in this process share. If a test changes shared state (limits,
 * metrics, the log, the server's end), it uses a separate server.
 */
export function serverWith(settings: Settings = {}): Promise<TestServer> {
  const name = JSON.stringify([engineAsked, ...Object.entries(settings).sort()])
  const known = shared.get(name)
  if (known !== undefined) return known
  const server = startShared(settings)
  shared.set(name, server)
  return server
}

/** Starts a shared server. The newest teardown runs first, so the server stops before its Postgres. */
async function startShared(settings: Settings): Promise<TestServer> {
  const server = await startServer(settings)
  root.teardown(() => server.stop())
  return server
}

/** Starts a separate server for a test. `parts` replaces the clock, the engines and other parts of the product. */
export async function ownServer(
  t: { teardown(run: () => Promise<void>): void },
  settings: Settings = {},
  parts: Omit<Start, 'env'> = {},
): Promise<TestServer> {
  const server = await startServer(settings, parts)
  t.teardown(() => server.stop())
  return server
}

/** The drain time when a server stops. A socket or session that a test has left open delays the end by this time. */
const drainMs = 200

async function startServer(settings: Settings, parts: Omit<Start, 'env'> = {}): Promise<TestServer> {
  const dataDir = freshDataDir()
  const cluster = await TestCluster.start()
  const remove = async () => {
    await cluster.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
  try {
    const databaseUrl = settings['DATABASE_URL'] ?? (await cluster.database())
    const env = {
      ...quiet,
      PARLEY_DATA_DIR: dataDir,
      DATABASE_URL: databaseUrl,
      ...(engineAsked !== null && { PARLEY_ENGINE: engineAsked }),
      ...settings,
    }
    const config = await loadConfig<ParleyConfig>(env, configKeys, validateConfig)
    let output = ''
    const log = createLogTo(config.logLevel, { write: (line) => (output += line) })
    const clock = endingClock()
    const gateway = await startGateway(config, { env, log, clock, ...parts })
    const stop = once(async () => {
      const timer = setTimeout(() => gateway.force(), drainMs)
      try {
        await gateway.stop(0)
      } finally {
        clearTimeout(timer)
        clock.end()
        await remove()
      }
    })
    const key = config.bootstrapKey ?? testKey
    return { url: gateway.url, key, dataDir, databaseUrl, gateway, output: () => output, stop }
  } catch (error) {
    await remove()
    throw error
  }
}

/**
 * Returns a clock whose timers can be ended. A program's timers end with its process, but here they would keep the
 * test's process alive.
 */
function endingClock(): Clock & { end(): void } {
  const cancels = new Set<() => void>()
  return {
    ...systemClock,
    after(delayMs, run) {
      const cancelTimer = systemClock.after(delayMs, () => {
        cancels.delete(cancel)
        run()
      })
      const cancel = () => {
        cancels.delete(cancel)
        cancelTimer()
      }
      cancels.add(cancel)
      return cancel
    },
    end() {
      for (const cancel of cancels) cancel()
    },
  }
}

/** Runs the work once, because a test may stop its server early and the teardown stops it again. */
function once(run: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null
  return () => (running ??= run())
}

const quiet: Settings = {
  PARLEY_PORT: '0',
  PARLEY_BOOTSTRAP_KEY: testKey,
  PARLEY_LOG_LEVEL: 'warn',
  PARLEY_EDGE_QUOTA: '0',
  // Without this, each server would preload its engine, which takes a second of processor time and 265 MiB.
  PARLEY_LOCAL_WARM: 'false',
  // The engine is not preloaded, so the first stream starts it. On a busy machine this takes more than the usual 10 s.
  PARLEY_REALTIME_OPEN_MS: '60000',
  // Without a load balancer the server need not wait for one before it closes its port.
  PARLEY_DRAIN_LB_DELAY_MS: '0',
  PARLEY_STORE_CONNECTIONS_MAX: '4',
  // Without this, the operator would have to approve each number that a test with several organizations imports.
  PARLEY_SIP_IMPORTS_NEED_APPROVAL: 'false',
}
