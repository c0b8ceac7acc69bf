import type { Command } from 'commander'
import type { Actions } from './actions.ts'
import { CommandError } from './command-error.ts'

const allScopes = 'router,realtime,platform,rmsg,admin'

export function keys(program: Command, actions: Actions): void {
  const group = program.command('keys').description('API keys; a secret is shown once, when it is made')
  group
    .command('create')
    .description('a new key of an organization')
    .requiredOption('--org <id>', 'organization id, org_…')
    .option('--scopes <list>', 'scopes, separated by commas', allScopes)
    .option('--test', 'a test key: reaches only simulators and embedded engines', false)
    .option(
      '--policy <json>',
      'what the key carries: voice, chain, language, allowed_origins, allow_providers, max_concurrency, objective',
      '{}',
    )
    .action(async (options: { org: string; scopes: string; test: boolean; policy: string }) => {
      const policy = readPolicy(options.policy)
      const key = { scopes: options.scopes.split(','), test: options.test, policy }
      console.log(await actions.admin((admin) => admin.createKey(options.org, key)))
    })
  group
    .command('list')
    .description('the keys of an organization')
    .requiredOption('--org <id>', 'organization id, org_…')
    .action(async (options: { org: string }) => {
      for (const key of await actions.admin((admin) => admin.keys(options.org)))
        console.log(
          [
            key.id,
            key.test ? 'test' : 'live',
            key.scopes.join(','),
            state(key.revokedAt),
            `used ${day(key.lastUsedAt)}`,
            ...(key.policy.length > 0 ? [`policy ${key.policy.join(',')}`] : []),
          ].join('  '),
        )
    })
  group
    .command('rotate')
    .description('a new secret for a key; the old one stops working at once')
    .argument('<id>', 'key id, key_…')
    .requiredOption('--org <id>', 'organization id, org_…')
    .action(async (id: string, { org }: { org: string }) => {
      console.log(await actions.admin((admin) => admin.rotateKey(org, id)))
    })
  group
    .command('revoke')
    .description('end a key')
    .argument('<id>', 'key id, key_…')
    .requiredOption('--org <id>', 'organization id, org_…')
    .action(async (id: string, { org }: { org: string }) => {
      if (!(await actions.admin((admin) => admin.revokeKey(org, id))))
        throw new CommandError(`there is no live key ${id}`)
      console.log(`${id} is revoked`)
    })
  group
    .command('reseal')
    .description(
      'after a change of PARLEY_MASTER_KEY: move the provider keys of organizations from the previous ones to it',
    )
    .action(async () => {
      const { resealed, failed, unreadable } = await actions.admin((admin) => admin.resealKeys())
      console.log(`${resealed} moved to the current master key`)
      if (failed + unreadable === 0) return
      throw new CommandError(
        `${unreadable} were sealed with a master key that is not named in PARLEY_PREVIOUS_MASTER_KEYS, ${failed} do not open`,
      )
    })
}

function readPolicy(text: string): object {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  } catch {
    // Text that is not JSON gets the same error as JSON that is not an object.
  }
  throw new CommandError('--policy takes a JSON object, for example {"voice":"slt"}')
}

const state = (revokedAt: Date | null) => (revokedAt ? `revoked ${day(revokedAt)}` : 'live')
const day = (date: Date | null) => date?.toISOString().slice(0, 10) ?? 'never'
