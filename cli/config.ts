import type { Command } from 'commander'
import { configKeys } from '../generated/config/keys.ts'
import type { ParleyConfig } from '../generated/config/types.ts'
import type { Actions, ProviderOverview } from './actions.ts'
import { print } from './print.ts'

export function config(program: Command, actions: Actions): void {
  program
    .command('config')
    .description('the configuration')
    .command('check')
    .description('read parley.yaml and the environment, and print what `up` would do with them, secrets left out')
    .option('--json', 'print as JSON', false)
    .action(async ({ json }: { json: boolean }) => {
      const { settings, ...parts } = await actions.config()
      const inForce = settingsInForce(settings)
      print(json, { ...parts, settings: Object.fromEntries(inForce.map(({ name, value }) => [name, value])) }, () => [
        ...inForce.map(({ name, value, env }) => `${name.padEnd(34)} ${JSON.stringify(value)}   (${env})`),
        '',
        `file       ${parts.file ?? 'none; the environment and the defaults'}`,
        `engine     ${parts.engine}`,
        ...parts.providers.map((provider) => `provider   ${lineOfProvider(provider)}`),
      ])
    })
}

/** Returns a line such as `mine (adapter openai) at http://127.0.0.1:9100/v1, not served: MY_KEY is not set`. */
export function lineOfProvider({ id, adapter, baseUrl, unavailable, missing }: ProviderOverview): string {
  const name = adapter === id ? id : `${id} (adapter ${adapter})`
  const reason = missing === null ? unavailable?.replaceAll('_', ' ') : `${missing} is not set`
  return `${name}${baseUrl === null ? '' : ` at ${baseUrl}`}${reason === undefined ? '' : `, not served: ${reason}`}`
}

type Setting = { name: string; value: unknown; env: string }

function settingsInForce(config: ParleyConfig): Setting[] {
  return configKeys.map(({ path: keys, env, secret }) => {
    const value = keys.reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], config)
    return { name: keys.join('.'), value: shown(value, secret, keys[0] === 'providers'), env }
  })
}

/**
 * Returns the printable value of a setting. A secret is shown only as set or not set. A provider is shown by its id,
 * because its row may hold a secret.
 */
function shown(value: unknown, secret: boolean, isProviders: boolean): unknown {
  if (secret)
    return value === null || value === undefined || (Array.isArray(value) && value.length === 0) ? 'not set' : 'set'
  if (isProviders && Array.isArray(value)) return value.map((one: { id: string }) => one.id)
  return value ?? null
}
