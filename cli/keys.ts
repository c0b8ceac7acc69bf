import type { Command } from 'commander'
import type { KeyPolicy } from '../generated/key-policy/types.ts'
import type { Actions } from './actions.ts'
import type { IssuedKey, KeyRow } from './admin.ts'
import { CommandError } from './command-error.ts'
import { print } from './print.ts'

const allScopes = 'router,realtime,platform,rmsg,admin'
/** The compiler finds a field that is missing here. */
const policyFields: Readonly<Record<keyof KeyPolicy, true>> = {
  voice: true,
  chain: true,
  language: true,
  allowed_origins: true,
  allow_providers: true,
  max_concurrency: true,
  aliases: true,
  objective: true,
}

export function keys(program: Command, actions: Actions): void {
  const group = program.command('keys').description('API keys; a secret is shown once, when it is made')
  const command = (name: string, description: string) =>
    group.command(name).description(description).option('--json', 'print as JSON', false)
  command('create', 'a new key of an organization')
    .requiredOption('--org <id>', 'organization id, org_…')
    .option('--scopes <list>', 'scopes, separated by commas', allScopes)
    .option('--test', 'a test key: reaches only simulators and embedded engines', false)
    .option('--policy <json>', `what the key carries: ${Object.keys(policyFields).join(', ')}`, '{}')
    .action(async (options: Json & { org: string; scopes: string; test: boolean; policy: string }) => {
      const policy = readPolicy(options.policy)
      const key = { scopes: options.scopes.split(','), test: options.test, policy }
      printIssued(options.json, await actions.admin((admin) => admin.createKey(options.org, key)))
    })
  command('list', 'the keys of an organization')
    .requiredOption('--org <id>', 'organization id, org_…')
    .action(async ({ org, json }: Json & { org: string }) => {
      const rows = await actions.admin((admin) => admin.keys(org))
      print(json, rows.map(keyJson), () => rows.map(lineOf))
    })
  command('rotate', 'a new secret for a key; the old one stops working at once')
    .argument('<id>', 'key id, key_…')
    .requiredOption('--org <id>', 'organization id, org_…')
    .action(async (id: string, { org, json }: Json & { org: string }) => {
      printIssued(json, await actions.admin((admin) => admin.rotateKey(org, id)))
    })
  command('revoke', 'end a key')
    .argument('<id>', 'key id, key_…')
    .requiredOption('--org <id>', 'organization id, org_…')
    .action(async (id: string, { org, json }: Json & { org: string }) => {
      if (!(await actions.admin((admin) => admin.revokeKey(org, id))))
        throw new CommandError(`there is no live key ${id}`)
      print(json, { id, revoked: true }, () => [`${id} is revoked`])
    })
  command(
    'reseal',
    'after a change of PARLEY_MASTER_KEY: move the provider keys of organizations and the secrets of tools from the previous ones to it',
  ).action(async ({ json }: Json) => {
    const { resealed, failed, unreadable } = await actions.admin((admin) => admin.resealKeys())
    print(json, { resealed, failed, unreadable }, () => [`${resealed} moved to the current master key`])
    if (failed + unreadable === 0) return
    throw new CommandError(
      `${unreadable} were sealed with a master key that is not named in PARLEY_PREVIOUS_MASTER_KEYS, ${failed} do not open`,
    )
  })
}

type Json = { json: boolean }

function printIssued(json: boolean, key: IssuedKey): void {
  print(json, key, () => [key.secret])
}

function lineOf(key: KeyRow): string {
  return [
    key.id,
    key.test ? 'test' : 'live',
    key.scopes.join(','),
    state(key.revokedAt),
    `used ${day(key.lastUsedAt)}`,
    ...(key.policy.length > 0 ? [`policy ${key.policy.join(',')}`] : []),
  ].join('  ')
}

function keyJson({ id, test, scopes, policy, createdAt, revokedAt, lastUsedAt }: KeyRow) {
  return {
    id,
    test,
    scopes,
    policy_fields: policy,
    created_at: createdAt.toISOString(),
    revoked_at: revokedAt?.toISOString() ?? null,
    last_used_at: lastUsedAt?.toISOString() ?? null,
  }
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
