#!/usr/bin/env -S node --min-semi-space-size=16 --max-semi-space-size=32
/** The program `parley`: joins the commands in cli/ with the product. app/ puts the product together. */
import { webhookSigner } from './app/commands/sign.ts'
import type { Actions } from './cli/actions.ts'
import { explain } from './cli/client.ts'
import { examine } from './cli/doctor.ts'
import { createProgram } from './cli/program.ts'
import { configKeys } from './generated/config/keys.ts'
import type { ParleyConfig } from './generated/config/types.ts'
import { validateConfig } from './generated/config/validator.ts'
import { type Environment, loadConfig } from './runtime/config.ts'
import { authorityOf } from './runtime/engine/host.ts'
import { keyOf } from './runtime/local-secret.ts'
import { endInstance, readPidFile } from './runtime/pid-file.ts'
import { version } from './runtime/version.ts'

// The link `dist` in the path can point to a newer build when workers are started again: they run the build of this file.
process.argv[1] = import.meta.filename

// The reader of a pipe can close it before all is written: `parley respond - | head -1`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))
const actions = createActions(process.env)
try {
  await createProgram(actions).parseAsync()
  // An open handle of a library (a timer, an idle socket) must not keep a finished command alive.
  process.exit()
} catch (error) {
  console.error(`parley: ${explain(error)}`)
  process.exit(1)
}

/** Most commands only send requests, so they load neither the server nor the store: `parley --help` takes 0.15 s and not 0.75 s. */
function createActions(env: Environment): Actions {
  const config = () => loadConfig<ParleyConfig>(env, configKeys, validateConfig)
  const serving = () => import('./app/commands/serve.ts')
  const administration = () => import('./app/commands/administer.ts')
  return {
    version,
    up: async (ready) => (await serving()).up(await config(), env, ready),
    demo: async (run) => (await serving()).demo(await config(), env, run),
    doctor: async () => examine((await serving()).machine(env, config)),
    config: async () => (await serving()).checkConfig(await config(), env),
    drain: async () => {
      const instance = readPidFile((await config()).dataDir)
      if (instance) await endInstance(instance)
      return instance?.pid ?? null
    },
    admin: async (run) => (await administration()).administer(await config(), run),
    migrate: async () => (await administration()).migrateDatabase(await config()),
    backup: async (file) => (await administration()).backUpDatabase(await config(), file),
    restore: async (file) => (await administration()).restoreDatabase(await config(), file),
    updateCatalog: async (source) => (await administration()).updateCatalogOf(await config(), source),
    connection: async () => {
      const settings = await config()
      const { dataDir, host, port } = settings
      const baseUrl = env['PARLEY_URL'] ?? readPidFile(dataDir)?.url ?? `http://${authorityOf(host, port)}`
      return { baseUrl, apiKey: keyOf(settings, env) }
    },
    webhookSigner: async (given) => webhookSigner((await config()).dataDir, given),
  }
}
