import type { Command } from 'commander'
import type { KeyPolicy } from '../generated/key-policy/types.ts'
import type { Actions } from './actions.ts'
import type { IssuedKey, KeyCommands, KeyRow, KeySettings } from './admin-keys.ts'
import { type Budget, budgetOf, spentWords } from './budget-option.ts'
import { platformClient } from './client.ts'
import { CommandError, UsageError } from './command-error.ts'
import { ofWhom } from './credits.ts'
import { createKeyRequests } from './key-requests.ts'
import { print } from './print.ts'
import { spanOf } from './span-option.ts'

/** The default scopes, the least that a router API client needs. For other scopes, the command must name them. */
const usualScopes = 'router,realtime'
const nameCharactersMax = 200
const lifeDaysMax = 3650
const overlapDaysMax = 30
/** Names all policy fields. If a field is missing here, the compiler reports it. */
const policyFields: Readonly<Record<keyof KeyPolicy, true>> = {
  voice: true,
  chain: true,
  language: true,
  allowed_origins: true,
  allow_providers: true,
  max_concurrency: true,
  aliases: true,
  objective: true,
  budget: true,
}

export function keys(program: Command, actions: Actions): void {
  const group = program.command('keys').description('API keys; a secret is shown once, when it is made')
  const run = administered(actions)
  const command = (name: string, description: string) =>
    group.command(name).description(description).option('--json', 'print as JSON', false)
  command('create', 'a new key of an organization')
    .option('--org <organization>', ofWhom)
    .option('--name <name>', 'what the key is for, shown in lists', '')
    .option(
      '--scopes <list>',
      'scopes, separated by commas, of router, realtime, platform, rmsg and admin',
      usualScopes,
    )
    .option('--expires <span>', 'the key ends after this, for example 90d or 12h')
    .option('--test', 'a test key: reaches only simulators and embedded engines', false)
    .option('--budget <budget>', 'the most that it may cost, for example 5usd/month, 0.25usd/day or 100usd/total (UTC)')
    .option('--policy <json>', `what the key carries: ${Object.keys(policyFields).join(', ')}`, '{}')
    .action(async ({ org, json, ...options }: Json & Whose & CreateOptions) => {
      const key = keySettingsOf(options)
      printIssued(json, await run(org, (keys, organization) => keys.createKey(organization, key)))
    })
  command('list', 'the keys of an organization')
    .option('--org <organization>', ofWhom)
    .action(async ({ org, json }: Json & Whose) => {
      const rows = await run(org, (keys, organization) => keys.keys(organization))
      print(json, rows.map(keyJson), () => rows.map(lineOf))
    })
  command('rotate', 'a new secret for a key; the old one stops working at once, or after the overlap')
    .option('--overlap <span>', 'how long the old secret still works, for example 24h')
    .argument('<key>', 'name or id of the key')
    .option('--org <organization>', ofWhom)
    .action(async (key: string, { org, json, overlap }: Json & Whose & { overlap?: string }) => {
      const overlapMs = overlap === undefined ? 0 : spanOf('--overlap', overlap, overlapDaysMax)
      printIssued(json, await run(org, (keys, organization) => keys.rotateKey(organization, key, overlapMs)))
    })
  command('revoke', 'end a key')
    .argument('<key>', 'name or id of the key')
    .option('--org <organization>', ofWhom)
    .action(async (key: string, { org, json }: Json & Whose) => {
      const id = await run(org, (keys, organization) => keys.revokeKey(organization, key))
      print(json, { id, revoked: true }, () => [`${id} is revoked`])
    })
  command('set', 'another budget for a key; every running Parley obeys at once')
    .argument('<key>', 'name or id of the key')
    .argument('<setting>', 'budget=5usd/month, for a day, a month (UTC) or total; budget=none takes it away')
    .option('--org <organization>', ofWhom)
    .action(async (key: string, setting: string, { org, json }: Json & Whose) => {
      const budget = readSetting(setting)
      const row = await run(org, (keys, organization) => keys.setBudget(organization, key, budget))
      print(json, keyJson(row), () => [lineOf(row)])
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

type Run = <Answer>(
  org: string | undefined,
  work: (keys: KeyCommands, organization: string) => Promise<Answer>,
) => Promise<Answer>

/**
 * Works on the database if the organization is named. Otherwise it sends requests to a server with the organization's
 * key.
 */
function administered(actions: Actions): Run {
  return async (org, work) => {
    if (org !== undefined) return actions.admin((admin) => work(admin, org))
    return work(createKeyRequests(platformClient(await actions.connection()), Date.now), '')
  }
}

type Json = { json: boolean }
type Whose = { org?: string }
type CreateOptions = {
  name: string
  scopes: string
  test: boolean
  policy: string
  budget?: string
  expires?: string
}

function keySettingsOf({ name, scopes, test, policy, budget, expires }: CreateOptions): KeySettings {
  if ([...name].length > nameCharactersMax || /\p{Cc}/u.test(name))
    throw new UsageError(`--name takes one line of ${nameCharactersMax} characters at most`)
  const lifeMs = expires === undefined ? null : spanOf('--expires', expires, lifeDaysMax)
  return { name, scopes: scopes.split(','), test, policy: withBudget(readPolicy(policy), budget), lifeMs }
}

function withBudget(policy: object, budget: string | undefined): object {
  if (budget === undefined) return policy
  if ('budget' in policy) throw new UsageError('--budget and the budget of --policy: give one of them')
  return { ...policy, budget: budgetOf('--budget', budget) }
}

/** Reads the setting `budget=…`. Returns null if it removes the budget. */
function readSetting(text: string): Budget | null {
  const [, value] = /^budget=(.*)$/.exec(text) ?? []
  if (value === undefined) throw new UsageError(`${text} is no setting; write budget=5usd/month or budget=none`)
  return value === 'none' ? null : budgetOf('budget', value)
}

function printIssued(json: boolean, key: IssuedKey): void {
  print(json, key, () => [key.secret])
}

function lineOf(key: KeyRow): string {
  return [
    key.id,
    key.test ? 'test' : 'live',
    key.scopes.join(','),
    stateOf(key),
    `used ${day(key.lastUsedAt)}`,
    publicPart(key),
    ...previousWords(key),
    ...(key.name === '' ? [] : [key.name]),
    ...(key.budget ? [spentWords(key.budget)] : []),
    ...(key.policy.length > 0 ? [`policy ${key.policy.join(',')}`] : []),
  ].join('  ')
}

function keyJson({
  id,
  name,
  publicId,
  test,
  scopes,
  policy,
  budget,
  createdAt,
  previousUntil,
  revokedAt,
  expiresAt,
  lastUsedAt,
}: KeyRow) {
  return {
    id,
    name,
    publicId,
    test,
    scopes,
    policyFields: policy,
    budget: budget && {
      microUsd: String(budget.microUsd),
      period: budget.period,
      spentMicroUsd: String(budget.spentMicroUsd),
    },
    createdAt: createdAt.toISOString(),
    previousSecretUntil: previousUntil?.toISOString() ?? null,
    revokedAt: revokedAt?.toISOString() ?? null,
    expiresAt: expiresAt?.toISOString() ?? null,
    lastUsedAt: lastUsedAt?.toISOString() ?? null,
  }
}

function readPolicy(text: string): object {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  } catch {
    // Invalid JSON falls through to the error below. It is also the error for JSON other than an object.
  }
  throw new UsageError('--policy takes a JSON object, for example {"voice":"slt"}')
}

function stateOf({ revokedAt, expiresAt }: KeyRow): string {
  if (revokedAt !== null) return `revoked ${day(revokedAt)}`
  return expiresAt === null ? 'live' : `live until ${minute(expiresAt)}`
}
/** Returns the part of the secret to show. If the operator brought the secret, no part of it is shown. */
const publicPart = ({ publicId }: KeyRow) => (publicId.endsWith('_') ? `${publicId}… (a secret of yours)` : publicId)

function previousWords({ previousUntil, revokedAt }: KeyRow): string[] {
  const isOver = previousUntil === null || revokedAt !== null || previousUntil.getTime() <= Date.now()
  return isOver ? [] : [`old secret until ${minute(previousUntil)}`]
}

const minute = (date: Date) => `${date.toISOString().slice(0, 16)}Z`
const day = (date: Date | null) => date?.toISOString().slice(0, 10) ?? 'never'
