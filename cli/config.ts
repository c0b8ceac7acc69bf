import type { Command } from 'commander'
import { configKeys } from '../generated/config/keys.ts'
import type { ParleyConfig } from '../generated/config/types.ts'
import type { Actions } from './actions.ts'

export function config(program: Command, actions: Actions): void {
  program
    .command('config')
    .description('the configuration')
    .command('check')
    .description('read parley.yaml and the environment, and print what is in force, secrets left out')
    .action(async () => {
      for (const line of settingsInForce(await actions.config())) console.log(line)
    })
}

function settingsInForce(config: ParleyConfig): string[] {
  return configKeys.map(({ path: keys, env, secret }) => {
    const value = keys.reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], config)
    return `${keys.join('.').padEnd(34)} ${shown(value, secret, keys[0] === 'providers')}   (${env})`
  })
}

/** A secret is shown as set or not set, never as its value. A provider is shown as its id, because its row may hold a secret. */
function shown(value: unknown, secret: boolean, isProviders: boolean): string {
  if (secret) return value === null || value === undefined ? 'not set' : 'set'
  if (isProviders && Array.isArray(value)) return value.map((one: { id: string }) => one.id).join(', ') || 'none'
  return JSON.stringify(value)
}
