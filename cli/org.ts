import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Actions } from './actions.ts'
import type { OrganizationChanges, OrganizationRow } from './admin.ts'
import { CommandError } from './command-error.ts'
import { print } from './print.ts'

const microUsdPerUsd = 1_000_000

export function org(program: Command, actions: Actions): void {
  const group = program.command('org').description('organizations: their limits, features and credit')
  const command = (name: string, description: string) =>
    group.command(name).description(description).option('--json', 'print as JSON', false)
  command('create', 'a new organization')
    .argument('<name>')
    .action(async (name: string, { json }: Json) => {
      printOrganization(json, await actions.admin((admin) => admin.createOrganization(name)))
    })
  command('list', 'every organization').action(async ({ json }: Json) => {
    const rows = await actions.admin((admin) => admin.organizations())
    print(json, rows.map(organizationJson), () => rows.map(lineOf))
  })
  command('show', 'one organization')
    .argument('<id>', 'organization id, org_…')
    .action(async (id: string, { json }: Json) => {
      printOrganization(json, await actions.admin((admin) => admin.organization(id)))
    })
  command('credit', 'add credit, in US dollars; a negative amount takes it away')
    .argument('<id>', 'organization id, org_…')
    .argument('<dollars>', 'for example 25 or -3.50')
    .action(async (id: string, dollars: string, { json }: Json) => {
      if (!amount.test(dollars)) throw new CommandError(`${dollars} is no amount in dollars with at most six decimals`)
      printOrganization(json, await actions.admin((admin) => admin.addCredit(id, microUsd(dollars))))
    })
  setting(command('set', 'change what is named, and leave the rest; every running Parley obeys at once'), actions)
}

type Json = { json: boolean }

type Settings = Json & {
  name?: string
  credit?: number
  /** Not null, which Commander takes for a missing value. */
  maxConcurrency?: number | 'unlimited'
  sms?: boolean
  rmsg?: boolean
  recording?: boolean
}

function setting(command: Command, actions: Actions): void {
  const feature = (name: string, what: string) =>
    new Option(`--${name} <state>`, what).choices(['on', 'off']).argParser((state) => readState(state))
  command
    .argument('<id>', 'organization id, org_…')
    .option('--name <name>', 'what it is called', readName)
    .option('--credit <dollars>', 'what it has from now on', readCredit)
    .option('--max-concurrency <count>', 'requests and sessions at a time over all its keys, or unlimited', readLimit)
    .addOption(feature('sms', 'whether it may send messages'))
    .addOption(feature('rmsg', 'whether it may use rich messages'))
    .addOption(feature('recording', 'whether its calls may be recorded'))
    .action(async (id: string, { json, ...settings }: Settings) => {
      const changes = changesOf(settings)
      if (Object.keys(changes).length === 0)
        throw new CommandError('name what to change: --name, --credit, --max-concurrency, --sms, --rmsg, --recording')
      printOrganization(json, await actions.admin((admin) => admin.changeOrganization(id, changes)))
    })
}

function changesOf({
  name,
  credit,
  maxConcurrency,
  sms,
  rmsg,
  recording,
}: Omit<Settings, 'json'>): OrganizationChanges {
  return {
    ...(name !== undefined && { name }),
    ...(credit !== undefined && { creditMicroUsd: credit }),
    ...(maxConcurrency !== undefined && { maxConcurrency: maxConcurrency === 'unlimited' ? null : maxConcurrency }),
    ...(sms !== undefined && { smsEnabled: sms }),
    ...(rmsg !== undefined && { rmsgEnabled: rmsg }),
    ...(recording !== undefined && { recordingEnabled: recording }),
  }
}

const amount = /^-?\d{1,9}(\.\d{1,6})?$/
const microUsd = (dollars: string) => Math.round(Number(dollars) * microUsdPerUsd)
const limitMax = 1_000_000

function readName(text: string): string {
  if (text.trim() === '' || text.length > 200) throw new InvalidArgumentError('It takes 1 to 200 characters.')
  return text
}

function readCredit(text: string): number {
  if (!amount.test(text))
    throw new InvalidArgumentError('It takes dollars with at most six decimals, for example 25 or 3.50.')
  return microUsd(text)
}

function readLimit(text: string): number | 'unlimited' {
  if (text === 'unlimited') return text
  const limit = Number(text)
  if (!/^\d+$/.test(text) || limit < 1 || limit > limitMax)
    throw new InvalidArgumentError(`It takes 1 to ${limitMax}, or unlimited.`)
  return limit
}

function readState(text: string): boolean {
  if (text === 'on' || text === 'off') return text === 'on'
  throw new InvalidArgumentError('It takes on or off.')
}

function printOrganization(json: boolean, row: OrganizationRow): void {
  print(json, organizationJson(row), () => [lineOf(row)])
}

function lineOf(row: OrganizationRow): string {
  const features = [row.smsEnabled && 'sms', row.rmsgEnabled && 'rmsg', row.recordingEnabled && 'recording']
  const on = features.filter((feature) => feature !== false)
  return [
    row.id,
    row.name,
    `credit $${(row.creditMicroUsd / microUsdPerUsd).toFixed(2)}`,
    `concurrency ${row.maxConcurrency ?? 'unlimited'}`,
    ...(on.length > 0 ? [`features ${on.join(',')}`] : []),
  ].join('  ')
}

function organizationJson(row: OrganizationRow) {
  return {
    id: row.id,
    name: row.name,
    credit_micro_usd: String(row.creditMicroUsd),
    max_concurrency: row.maxConcurrency,
    sms_enabled: row.smsEnabled,
    rmsg_enabled: row.rmsgEnabled,
    recording_enabled: row.recordingEnabled,
    created_at: row.createdAt.toISOString(),
  }
}
