import type { Command } from 'commander'
import type { Actions } from './actions.ts'
import type { OrganizationChanges, OrganizationRow } from './admin.ts'
import { CommandError, UsageError } from './command-error.ts'
import { print } from './print.ts'

const microUsdPerUsd = 1_000_000

export function org(program: Command, actions: Actions): void {
  const group = program.command('org').description('organizations: their limits, features and credit')
  const command = (name: string, description: string) =>
    group.command(name).description(description).option('--json', 'print as JSON', false)
  command('create', 'a new organization')
    .argument('<name>', 'its name')
    .action(async (name: string, { json }: Json) => {
      printOrganization(json, await actions.admin((admin) => admin.createOrganization(readName(name))))
    })
  command('list', 'every organization').action(async ({ json }: Json) => {
    const rows = await actions.admin((admin) => admin.organizations())
    print(json, rows.map(organizationJson), () => rows.map(lineOf))
  })
  command('show', 'one organization')
    .argument('<organization>', 'name or id of the organization')
    .action(async (id: string, { json }: Json) => {
      printOrganization(json, await actions.admin((admin) => admin.organization(id)))
    })
  command('credit', 'add credit, in US dollars; a negative amount takes it away')
    .argument('<organization>', 'name or id of the organization')
    .argument('<dollars>', 'for example 25 or -3.50')
    .action(async (id: string, dollars: string, { json }: Json) => {
      if (!amount.test(dollars)) throw new UsageError(`${dollars} is no amount in dollars with at most six decimals`)
      printOrganization(json, await actions.admin((admin) => admin.addCredit(id, microUsd(dollars))))
    })
  command('rename', 'another name for an organization')
    .argument('<organization>', 'name or id of the organization')
    .argument('<name>', 'the new name')
    .action(async (id: string, name: string, { json }: Json) => {
      const changes = { name: readName(name) }
      printOrganization(json, await actions.admin((admin) => admin.changeOrganization(id, changes)))
    })
  command(
    'disable',
    'refuse all requests of an organization and close its sockets; its data stays and its phone calls go on',
  )
    .argument('<organization>', 'name or id of the organization')
    .option('--now', 'end its live calls and sessions as well', false)
    .action(async (id: string, { json, now }: Json & { now: boolean }) => disable(actions, id, { json, now }))
  command('enable', 'let a disabled organization work again')
    .argument('<organization>', 'name or id of the organization')
    .action(async (id: string, { json }: Json) => {
      printOrganization(json, await actions.admin((admin) => admin.changeOrganization(id, { isDisabled: false })))
    })
  command('set', 'change what is named, and leave the rest; every running Parley obeys at once')
    .argument('<organization>', 'name or id of the organization')
    .argument('<settings...>', `name=value, of ${settingNames.join(', ')}`)
    .action(async (id: string, settings: string[], { json }: Json) => {
      const changes = Object.assign({}, ...settings.map(readSetting)) as OrganizationChanges
      printOrganization(json, await actions.admin((admin) => admin.changeOrganization(id, changes)))
    })
}

/** Disables an organization. With `now`, its live calls end. */
async function disable(actions: Actions, id: string, { json, now }: Json & { now: boolean }): Promise<void> {
  const { row, calls } = await actions.admin(async (admin) => {
    const row = await admin.changeOrganization(id, { isDisabled: true })
    return { row, calls: now ? await admin.endCalls(row.id) : null }
  })
  if (calls === null) return printOrganization(json, row)
  const { ended, unreached } = calls
  print(json, { ...organizationJson(row), endedCalls: ended }, () => [
    lineOf(row),
    `${ended} ${ended === 1 ? 'call was' : 'calls were'} ended`,
  ])
  if (unreached === 0) return
  throw new CommandError(`${unreached} calls go on, because their server did not answer; give the command again`)
}

type Json = { json: boolean }

const amount = /^-?\d{1,9}(\.\d{1,6})?$/
const microUsd = (dollars: string) => Math.round(Number(dollars) * microUsdPerUsd)
const limitMax = 1_000_000

/** Reads a setting's value. The keys are the settings' names. */
const settings: Readonly<Record<string, (value: string) => OrganizationChanges>> = {
  name: (value) => ({ name: readName(value) }),
  credit: (value) => ({ creditMicroUsd: readCredit(value) }),
  recording: (value) => ({ recordingEnabled: readState(value) }),
  time_zone: (value) => ({ timeZone: value }),
  tool_results: (value) => ({ toolResults: readStoring('tool_results', value) }),
  message_text: (value) => ({ messageText: readStoring('message_text', value) }),
  max_concurrency: (value) => ({ maxConcurrency: readLimit(value) }),
  max_sessions: (value) => ({ maxSessions: readLimit(value) }),
  sms_enabled: (value) => ({ smsEnabled: readState(value) }),
  rmsg_enabled: (value) => ({ rmsgEnabled: readState(value) }),
  rmsg_legacy_inventory: (value) => ({ rmsgLegacyInventory: readState(value) }),
  rmsg_backend: (value) => ({ rmsgBackend: readBackend(value) }),
  admin_organization: (value) => ({ adminOrganization: readState(value) }),
}
const settingNames = Object.keys(settings)

function readSetting(text: string): OrganizationChanges {
  const at = text.indexOf('=')
  const [name, value] = [text.slice(0, Math.max(at, 0)), text.slice(at + 1)]
  const read = Object.hasOwn(settings, name) ? settings[name] : undefined
  if (!read) throw new UsageError(`${text} is no setting; write name=value, of ${settingNames.join(', ')}`)
  return read(value)
}

function readName(text: string): string {
  if (text.trim() === '' || [...text].length > 200) throw new UsageError('name takes 1 to 200 characters')
  if (text.startsWith('org_'))
    throw new UsageError('a name does not begin with org_, because commands take such a text for an id')
  return text
}

function readCredit(text: string): number {
  if (!amount.test(text)) throw new UsageError('credit takes dollars with at most six decimals, for example 25 or 3.50')
  return microUsd(text)
}

/** Reads a limit. Returns null if there is no limit. Also accepts `null`, which `--json` prints in this case. */
function readLimit(text: string): number | null {
  if (['unlimited', 'none', 'null'].includes(text)) return null
  const limit = Number(text)
  if (!/^\d+$/.test(text) || limit < 1 || limit > limitMax)
    throw new UsageError(`a limit is 1 to ${limitMax}, or unlimited`)
  return limit
}

function readState(text: string): boolean {
  if (['on', 'true'].includes(text)) return true
  if (['off', 'false'].includes(text)) return false
  throw new UsageError(`${text} is neither on nor off`)
}

function readStoring(name: string, text: string): 'keep' | 'drop' {
  if (text === 'keep' || text === 'drop') return text
  throw new UsageError(`${name} takes keep or drop`)
}

function readBackend(text: string): 'default' | 'receive_only' {
  if (text === 'default' || text === 'receive_only') return text
  throw new UsageError('rmsg_backend takes default or receive_only')
}

function printOrganization(json: boolean, row: OrganizationRow): void {
  print(json, organizationJson(row), () => [lineOf(row)])
}

function lineOf(row: OrganizationRow): string {
  const features = [
    row.smsEnabled && 'sms',
    row.rmsgEnabled && 'rmsg',
    row.recordingEnabled && 'recording',
    row.adminOrganization && 'admin',
  ]
  const on = features.filter((feature) => feature !== false)
  return [
    row.id,
    row.name,
    `credit $${(row.creditMicroUsd / microUsdPerUsd).toFixed(2)}`,
    `concurrency ${row.maxConcurrency ?? 'unlimited'}`,
    `sessions ${row.maxSessions ?? 'unlimited'}`,
    ...(row.timeZone === 'UTC' ? [] : [`time zone ${row.timeZone}`]),
    `tool results ${row.toolResults}`,
    `message text ${row.messageText}`,
    ...(row.isDisabled ? ['disabled'] : []),
    ...(on.length > 0 ? [`features ${on.join(',')}`] : []),
  ].join('  ')
}

function organizationJson(row: OrganizationRow) {
  return {
    id: row.id,
    name: row.name,
    creditMicroUsd: String(row.creditMicroUsd),
    maxConcurrency: row.maxConcurrency,
    maxSessions: row.maxSessions,
    smsEnabled: row.smsEnabled,
    rmsgEnabled: row.rmsgEnabled,
    rmsgLegacyInventory: row.rmsgLegacyInventory,
    rmsgBackend: row.rmsgBackend,
    adminOrganization: row.adminOrganization,
    recording: row.recordingEnabled,
    timeZone: row.timeZone,
    toolResults: row.toolResults,
    messageText: row.messageText,
    disabled: row.isDisabled,
    createdAt: row.createdAt.toISOString(),
  }
}
