#!/usr/bin/env -S node --min-semi-space-size=16 --max-semi-space-size=32
/** The command line's other half: what the commands do to this machine. The product's wiring is in gateway.ts. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { type Actions, type Admin, type Check, CommandError, type OrganizationRow } from './cli/actions.ts'
import { explain } from './cli/client.ts'
import { createProgram } from './cli/program.ts'
import { type KeyPolicy, type Scope, scopes } from './domain/access/organization.ts'
import {
  checkServing,
  type Gateway,
  localKeyFile,
  openConfiguredStore,
  openProviders,
  startGateway,
} from './gateway.ts'
import { configKeys } from './generated/config/keys.ts'
import type { ParleyConfig } from './generated/config/types.ts'
import { validateConfig } from './generated/config/validator.ts'
import { updateCatalog } from './providers/catalog/update.ts'
import { ConfigError, type Environment, loadConfig } from './runtime/config.ts'
import { readLocalSecret } from './runtime/local-secret.ts'
import { createLog } from './runtime/log.ts'
import { endInstance, readPidFile, writePidFile } from './runtime/pid-file.ts'
import { workerVariable } from './runtime/workers.ts'
import { PolicyError, policyFields, readKeyPolicy } from './store/key-policy.ts'
import type { OrganizationRecord } from './store/organizations.ts'
import type { Store } from './store/store.ts'

const packageFile = new URL(import.meta.url.endsWith('.js') ? '../package.json' : './package.json', import.meta.url)
const { version } = JSON.parse(readFileSync(packageFile, 'utf8')) as { version: string }

const actions = createActions(process.env)
try {
  await createProgram(actions).parseAsync()
  // What is left open (a library's timer, an idle socket) must not keep a finished command alive.
  process.exit()
} catch (error) {
  console.error(`parley: ${explain(error)}`)
  process.exit(1)
}

/** Serves until a signal. The first one drains, a second one gives up what is in flight; the store is closed in both cases. */
async function up(config: ParleyConfig, env: Environment): Promise<void> {
  const worker = env[workerVariable] !== undefined
  await checkPort(config, worker)
  const gateway = await startGateway(config, env, (message) => console.error(message))
  const removePidFile = worker ? () => {} : writePidFile(config.dataDir, gateway.url)
  if (!worker) console.log(greeting(gateway))
  await signalled(gateway, worker)
  await gateway.stop()
  removePidFile()
}

/** Resolves at the first signal, or when the process that started this worker has died. From then on a second signal forces the end. */
function signalled(gateway: Gateway, worker: boolean): Promise<void> {
  return new Promise((resolve) => {
    let count = 0
    if (worker && !process.connected) return resolve()
    if (worker) process.once('disconnect', resolve)
    for (const signal of ['SIGINT', 'SIGTERM'] as const)
      process.on(signal, () => {
        count += 1
        if (count === 1) resolve()
        else gateway.force()
      })
  })
}

function greeting({ url, key }: Gateway): string {
  const shown = key ?? '$KEY'
  return [
    `Parley ${version} is ready at ${url}`,
    '',
    key === null ? '  key   the one that you made or named in PARLEY_BOOTSTRAP_KEY' : `  key   ${key}`,
    `  try   curl -s ${url}/router/v1/models -H 'Authorization: Bearer ${shown}'`,
    '',
  ].join('\n')
}

/**
 * The port is tried before Postgres is started: the usual mistake is a second start, and it must cost nothing. Also where workers will share it:
 * the kernel lets anybody in who shares too, and a second Parley would take half of the connections in silence.
 */
async function checkPort({ host, port }: ParleyConfig, worker: boolean): Promise<void> {
  if (port === 0 || worker) return
  const probe = createServer()
  await new Promise<void>((resolve, reject) => {
    probe.once('error', (error: NodeJS.ErrnoException) => reject(new ConfigError(whyNotBound(error, host, port))))
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve()))
  })
}

function whyNotBound({ code }: NodeJS.ErrnoException, host: string, port: number): string {
  if (code === 'EADDRINUSE') return `PARLEY_PORT: ${host}:${port} is taken; is another Parley running there?`
  if (code === 'EACCES') return `PARLEY_PORT: this user may not listen on ${port}; choose one above 1023`
  return `PARLEY_HOST: ${host} is no address of this machine (${code ?? 'unknown'})`
}

function createActions(env: Environment): Actions {
  const config = () => loadConfig<ParleyConfig>(env, configKeys, validateConfig)
  return {
    version,
    up: async () => up(await config(), env),
    demo: async (run) => {
      const dataDir = mkdtempSync(path.join(os.tmpdir(), 'parley-'))
      const own = {
        ...(await config()),
        dataDir,
        port: 0,
        host: '127.0.0.1',
        databaseUrl: null,
        bootstrapKey: null,
        uploadPort: null,
        adminPort: null,
        processes: 1,
      }
      const gateway = await startGateway({ ...own, logLevel: 'warn' }, env, () => {})
      try {
        await run({ baseUrl: gateway.url, apiKey: gateway.key })
      } finally {
        await gateway.stop()
        rmSync(dataDir, { recursive: true, force: true })
      }
    },
    doctor: () => examine(config, env),
    configCheck: async () => {
      const settings = await config()
      checkServing(settings, env)
      return settingsInForce(settings)
    },
    drain: async () => {
      const instance = readPidFile((await config()).dataDir)
      if (instance) await endInstance(instance)
      return instance?.pid ?? null
    },
    admin: async (run) => {
      const store = await openConfiguredStore(await config(), createLog('warn'), () => {})
      try {
        return await run(createAdmin(store))
      } finally {
        await store.close({ stopPostgres: true })
      }
    },
    updateCatalog: async (source) => updateCatalog(source, (await config()).dataDir),
    connection: async () => {
      const { dataDir, host, port } = await config()
      const baseUrl = env['PARLEY_URL'] ?? readPidFile(dataDir)?.url ?? `http://${host}:${port}`
      return { baseUrl, apiKey: env['PARLEY_API_KEY'] ?? readLocalSecret(dataDir, localKeyFile) }
    },
  }
}

function createAdmin({ organizations, keys, providerKeys }: Store): Admin {
  return {
    organizations: async () => (await organizations.list()).map(rowOf),
    createOrganization: async (name) => {
      const settings = { name, maxConcurrency: null, smsEnabled: false, rmsgEnabled: false, recordingEnabled: false }
      return rowOf(await organizations.create({ ...settings, creditMicroUsd: 0 }))
    },
    addCredit: async (id, microUsd) =>
      rowOf(found(await organizations.addCredit(id, microUsd), `there is no organization ${id}`)),
    keys: async (id) => (await keys.list(id)).map(({ policy, ...key }) => ({ ...key, policy: policyFields(policy) })),
    createKey: async (organizationId, { scopes: names, test, policy }) => {
      const made = await keys.create({
        organizationId,
        name: '',
        scopes: readScopes(names),
        test,
        policy: readPolicy(policy),
        expiresAtMs: null,
      })
      return found(made, `there is no organization ${organizationId}`).secret
    },
    rotateKey: async (organizationId, id) =>
      found(await keys.rotate(organizationId, id), `there is no live key ${id}`).secret,
    revokeKey: (organizationId, id) => keys.revoke(organizationId, id),
    resealKeys: async () => ({ ...(await providerKeys.reseal()), unreadable: await providerKeys.unreadable() }),
  }
}

function rowOf({ id, name, creditMicroUsd, maxConcurrency }: OrganizationRecord): OrganizationRow {
  return { id, name, creditMicroUsd, maxConcurrency }
}

function found<Value>(value: Value | null, message: string): Value {
  if (value === null) throw new CommandError(message)
  return value
}

function readPolicy(policy: unknown): KeyPolicy {
  try {
    return readKeyPolicy(policy)
  } catch (error) {
    throw error instanceof PolicyError ? new CommandError(`--policy: ${error.message}`) : error
  }
}

function readScopes(names: readonly string[]): Scope[] {
  const unknown = names.find((name) => !scopes.includes(name as Scope))
  if (unknown !== undefined) throw new CommandError(`${unknown} is no scope; there are ${scopes.join(', ')}`)
  return names as Scope[]
}

/** Each check stands alone: one that fails does not hide the next. */
async function examine(readConfig: () => Promise<ParleyConfig>, env: Environment): Promise<Check[]> {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const node: Check = {
    name: 'Node',
    ok: (major === 20 && minor >= 19) || (major > 20 && major < 26),
    detail: `${process.version} on ${process.platform} ${process.arch}`,
    advice:
      'Use Node 20.19 or later, below 26. Node 22 and 24 need glibc 2.38 (Debian 13, Ubuntu 24.04); there is no engine for Alpine.',
  }
  let config: ParleyConfig
  try {
    config = await readConfig()
    checkServing(config, env)
  } catch (error) {
    return [node, { name: 'configuration', ok: false, detail: explain(error) }]
  }
  const checks = [checkStore(config), checkPortFree(config), checkProviders(config, env)]
  return [
    node,
    { name: 'configuration', ok: true, detail: env['PARLEY_CONFIG'] ?? 'environment and defaults' },
    ...(await Promise.all(checks)),
  ]
}

async function checkStore(config: ParleyConfig): Promise<Check> {
  const name = 'store'
  const detail =
    config.databaseUrl === null ? `an embedded Postgres in ${config.dataDir}` : 'the Postgres that DATABASE_URL names'
  try {
    const store = await openConfiguredStore(config, createLog('silent'), () => {})
    await store.close({ stopPostgres: true })
    return { name, ok: true, detail: `${detail} answers` }
  } catch (error) {
    return { name, ok: false, detail: `${detail}: ${explain(error)}` }
  }
}

async function checkPortFree(config: ParleyConfig): Promise<Check> {
  const running = readPidFile(config.dataDir)
  if (running)
    return { name: 'port', ok: true, detail: `Parley runs already at ${running.url}, process ${running.pid}` }
  try {
    await checkPort(config, false)
    return { name: 'port', ok: true, detail: `${config.host}:${config.port} is free` }
  } catch (error) {
    return { name: 'port', ok: false, detail: explain(error), advice: 'End what listens there, or set PARLEY_PORT.' }
  }
}

async function checkProviders(config: ParleyConfig, env: Environment): Promise<Check> {
  const name = 'providers'
  try {
    const providers = await openProviders(config, env, createLog('silent'))
    const shown = providers.map(({ id, unavailable }) => `${id}${unavailable() === null ? '' : ` (${unavailable()})`}`)
    await Promise.all(providers.map((provider) => provider.close()))
    return { name, ok: true, detail: shown.join(', ') || 'none' }
  } catch (error) {
    return { name, ok: false, detail: explain(error) }
  }
}

/** Every setting in force. A secret is told as set or not, never shown. */
function settingsInForce(config: ParleyConfig): string[] {
  return configKeys.map(({ path: keys, env, secret }) => {
    const value = keys.reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], config)
    const shown = secret
      ? value === null || value === undefined
        ? 'not set'
        : 'set'
      : Array.isArray(value) && keys[0] === 'providers'
        ? value.map((one: { id: string }) => one.id).join(', ') || 'none'
        : JSON.stringify(value)
    return `${keys.join('.').padEnd(34)} ${shown}   (${env})`
  })
}
