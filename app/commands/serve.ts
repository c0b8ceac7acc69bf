/** Commands that start the server, or use its store and keys with the same configuration. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { Actions, CheckedConfig, Connection, ProviderOverview } from '../../cli/actions.ts'
import { explain } from '../../cli/client.ts'
import { CommandError } from '../../cli/command-error.ts'
import { type examine } from '../../cli/doctor.ts'
import { withProgress } from '../../cli/progress.ts'
import type { ParleyConfig } from '../../generated/config/types.ts'
import { modelStates } from '../../providers/local/installation/models-folder.ts'
import { publishedAddress } from '../../providers/vendors/vendors.ts'
import { isEveryAddress } from '../../runtime/engine/host.ts'
import { loadForServer } from '../../runtime/optional.ts'
import { packageFile } from '../../runtime/package-file.ts'
import { markBuildInUse } from '../../runtime/process/build-in-use.ts'
import { configFile, type Environment } from '../../runtime/process/config.ts'
import { requireFreePort } from '../../runtime/process/free-port.ts'
import { keyOf, keySourceOf } from '../../runtime/process/local-secret.ts'
import { readPidFile, writePidFile } from '../../runtime/process/pid-file.ts'
import { followParent, workerVariable } from '../../runtime/process/workers.ts'
import { Owners } from '../../runtime/shares/owners.ts'
import { createLog } from '../../runtime/telemetry/log.ts'
import { systemClock } from '../../runtime/timing/clock.ts'
import { version } from '../../runtime/version.ts'
import { waitingWords } from '../draining.ts'
import { modelsFolder, openProviders } from '../engines.ts'
import { engineOf, type Gateway, startGateway } from '../gateway.ts'
import { checkServing } from '../settings.ts'
import { examineDatabase } from './administer.ts'
import { greeting, type Ready } from './greeting.ts'

const demoRecording = packageFile('test/fixtures/speech/privacy-prompt.wav')

/**
 * Starts the server and serves until a signal. The first signal drains, a second signal ends the requests in flight;
 * both close the store.
 */
export async function up(
  config: ParleyConfig,
  env: Environment,
  ready: (connection: Connection) => void,
): Promise<void> {
  const worker = env[workerVariable] !== undefined
  // The port is tried before Postgres starts: a second `up` is a common mistake and must have no side effects.
  if (!worker) await requireFreePort(config)
  const freeBuild = markBuildInUse(import.meta.dirname)
  const starting = startGateway(config, { env, progress: (message) => console.error(message) })
  // Loads packages while Postgres starts.
  loadForServer()
  const gateway = await starting
  const removePidFile = worker ? () => {} : await announce(config, gateway.url)
  if (!worker) {
    console.log(greeting(readyOf(gateway, config)))
    ready({ baseUrl: gateway.url, ...commandKeyOf(config, env) })
  }
  const lbDelayMs = await endOf(gateway, worker, config)
  await gateway.stop(lbDelayMs)
  removePidFile()
  freeBuild()
}

/**
 * Writes the pid file for `drain` and other commands. With a deployer's Postgres, the data folder is not needed
 * otherwise, so a failed write does not stop the server.
 */
async function announce({ dataDir, databaseUrl }: ParleyConfig, url: string): Promise<() => void> {
  try {
    const file = await writePidFile(dataDir, url)
    const { other } = file
    if (other !== null)
      console.error(
        `Process ${other.pid} serves this data folder too, at ${other.url}. \`parley drain\` and other commands reach that one.`,
      )
    return () => file.remove()
  } catch (error) {
    if (databaseUrl === null) throw error
    console.error(`${explain(error)} Parley runs without it; \`parley drain\` will not find this process.`)
    return () => {}
  }
}

/** Resolves at the first signal with the `lbDelayMs` for the drain. A second signal forces the end. */
function endOf(gateway: Gateway, worker: boolean, { drain }: ParleyConfig): Promise<number> {
  return new Promise((resolve) => {
    if (worker) return followParent(resolve, () => gateway.force())
    let count = 0
    for (const signal of ['SIGINT', 'SIGTERM'] as const)
      process.on(signal, () => {
        count += 1
        if (count > 1) return gateway.force()
        // Ctrl-C comes from a person, so the server does not wait for a load balancer, and the terminal shows the open
        // work. For SIGTERM, the open work is only logged.
        const lbDelayMs = signal === 'SIGINT' ? 0 : drain.lbDelayMs
        if (signal === 'SIGINT')
          console.error(`${waitingWords(gateway.waiting(lbDelayMs), timeOfDay)}; Ctrl-C again ends at once`)
        resolve(lbDelayMs)
      })
  })
}

/**
 * Returns the API key with which `up --simulate-inbound` sends its requests to this server, and where the key was
 * found.
 */
function commandKeyOf(config: ParleyConfig, env: Environment): Pick<Connection, 'apiKey' | 'keyFrom'> {
  if (config.bootstrapKey !== null) return { apiKey: config.bootstrapKey, keyFrom: 'PARLEY_BOOTSTRAP_KEY' }
  return { apiKey: keyOf(config, env), keyFrom: keySourceOf(env) }
}

const timeOfDay = (ms: number) => new Date(ms).toTimeString().slice(0, 8)

function readyOf(
  gateway: Gateway,
  { host, publicUrl, surfaces, local, console: { enabled: hasConsole } }: ParleyConfig,
): Ready {
  const { url, page, firstKey, engine, setupCode } = gateway
  const { routerHost, compatHost } = surfaces
  const usesOllama = local.enabled && local.ollama
  const isEverywhere = isEveryAddress(host)
  const hosts = { routerHost, compatHost }
  return { version, url, publicUrl, isEverywhere, page, hasConsole, firstKey, engine, usesOllama, ...hosts, setupCode }
}

function connectionTo({ url, firstKey }: Gateway): Connection {
  return { baseUrl: url, apiKey: firstKey.kind === 'local' ? firstKey.key : null, keyFrom: 'local' }
}

/**
 * Runs the demo with a separate Parley and the same providers: one process on a free port, and an embedded store in a
 * temporary folder.
 */
export async function demo(config: ParleyConfig, env: Environment, run: Parameters<Actions['demo']>[0]): Promise<void> {
  const recording = { name: 'privacy-prompt.wav', bytes: new Uint8Array(readFileSync(demoRecording)) }
  const interrupted = new Promise<never>((_, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const)
      process.once(signal, () => reject(new CommandError('the demo was interrupted')))
  })
  // `interrupted` can reject before the race below waits for it. An unhandled rejection would end the process.
  interrupted.catch(() => {})
  const dataDir = mkdtempSync(path.join(os.tmpdir(), 'parley-'))
  const address = { host: '127.0.0.1', port: 0, uploadPort: null, adminPort: null, processes: 1 }
  // This separate Parley is not behind the deployment's proxy, so the settings for the proxy are removed. Then the
  // server counts as local, and makes a local API key.
  const unproxied = { publicUrl: null, nodeUrl: null, trustedProxies: [] }
  const store = { dataDir, databaseUrl: null, bootstrapKey: null }
  const settings: ParleyConfig = { ...config, ...address, ...unproxied, ...store, logLevel: 'warn' }
  try {
    const gateway = await withProgress('starting a Parley for the demo', () => startGateway(settings, { env }))
    try {
      await Promise.race([run({ connection: connectionTo(gateway), recording }), interrupted])
    } finally {
      await gateway.stop(0)
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}

type Machine = Parameters<typeof examine<ParleyConfig>>[0]

/** Returns the parts that `parley doctor` examines. */
export function machine(env: Environment, config: () => Promise<ParleyConfig>): Machine {
  return {
    config: async () => checked(await config(), env),
    configFile: configFile(env),
    engine: engineOf,
    store: examineDatabase,
    tryPort: requireFreePort,
    running: ({ dataDir }) => readPidFile(dataDir),
    providers: (settings) => overviewOf(settings, env),
    models: (settings) => modelStates(modelsFolder(settings)),
  }
}

/** Describes the parts that `up` would make from `config`. Throws ConfigError if no server could start with it. */
export async function checkConfig(config: ParleyConfig, env: Environment): Promise<CheckedConfig> {
  const settings = checked(config, env)
  const providers = await overviewOf(settings, env)
  return { settings, file: configFile(env), engine: engineOf(settings), providers }
}

function checked(config: ParleyConfig, env: Environment): ParleyConfig {
  checkServing(config, env)
  return config
}

/** Opens every provider like `up`, to find mistakes in the configuration. */
async function overviewOf(settings: ParleyConfig, env: Environment): Promise<ProviderOverview[]> {
  const providers = await openProviders(
    { config: settings, env, clock: systemClock, log: createLog('silent'), owners: new Owners() },
    { isWarm: false },
  )
  const overviews = providers.map(({ id, unavailable, credentialVariable }) => {
    const { adapter = id, baseUrl = null } = settings.providers.find((each) => each.id === id) ?? {}
    const reason = unavailable()
    const missing = reason === 'no_credential' ? (credentialVariable ?? null) : null
    return { id, adapter, baseUrl: baseUrl ?? publishedAddress(adapter), unavailable: reason, missing }
  })
  await Promise.all(providers.map((provider) => provider.close()))
  return overviews
}
