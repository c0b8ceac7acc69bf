/** Runs the command line's commands. Code used by only some commands is loaded when such a command runs. */
import type { Actions } from '../../cli/actions.ts'
import { examine } from '../../cli/doctor.ts'
import { readAddress } from '../../cli/reach.ts'
import { configKeys } from '../../generated/config/keys.ts'
import type { ParleyConfig } from '../../generated/config/types.ts'
import { validateConfig } from '../../generated/config/validator.ts'
import { authorityOf, isEveryAddress } from '../../runtime/engine/host.ts'
import { type Environment, loadConfig } from '../../runtime/process/config.ts'
import { keyOf, keySourceOf } from '../../runtime/process/local-secret.ts'
import { endInstance, readPidFile } from '../../runtime/process/pid-file.ts'
import { version } from '../../runtime/version.ts'
import { webhookSigner } from './sign.ts'

/**
 * Makes the commands' actions. Most commands only send requests, so they load neither the server nor the store: `parley
 * --help` takes 0.15 s instead of 0.75 s.
 */
export function createActions(env: Environment): Actions {
  const config = () => loadConfig<ParleyConfig>(env, configKeys, validateConfig)
  const serving = () => import('./serve.ts')
  const administration = () => import('./administer.ts')
  const added = () => import('./added-models.ts')
  return {
    version,
    up: async (ready) => (await serving()).up(await config(), env, ready),
    demo: async (run) => (await serving()).demo(await config(), env, run),
    mock: async (options, ready) => (await import('../../mock/serve.ts')).serveMock(options, ready),
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
    addModel: async (request) => (await added()).addTo(await config(), request),
    addedModels: async () => (await added()).statesIn(await config()),
    removeModel: async (id) => (await added()).removeFrom(await config(), id),
    connection: async () => {
      const settings = await config()
      const { dataDir, host, port } = settings
      const named = env['PARLEY_URL']
      const here = () =>
        readPidFile(dataDir)?.url ?? `http://${authorityOf(isEveryAddress(host) ? '127.0.0.1' : host, port)}`
      const baseUrl = named === undefined ? here() : readAddress(named, 'PARLEY_URL')
      return { baseUrl, apiKey: keyOf(settings, env), keyFrom: keySourceOf(env) }
    },
    conform: async (request) => (await import('./conform.ts')).conformReport(request),
    webhookSigner: async (given) => webhookSigner((await config()).dataDir, given),
  }
}
