import type { Command } from 'commander'
import type { Actions } from './actions.ts'
import { print } from './print.ts'
import type { NumberChange, RichNumberRow } from './rich-numbers.ts'

type World = { json: boolean; test: boolean }

const changes: Readonly<Record<NumberChange, string>> = {
  unassign: 'take a number out of its pool; the agent that answers on it has none from then on',
  pause: 'neither calls nor messages go over the number from then on',
  resume: 'end a pause',
  remove: 'take a number that is in no pool out of the inventory',
}

export function rmsg(program: Command, actions: Actions): void {
  const group = program.command('rmsg').description('rich-message numbers, and the organizations that use them')
  const command = (name: string, description: string) =>
    group
      .command(name)
      .description(description)
      .option('--test', 'a number of test keys, which is simulated', false)
      .option('--json', 'print as JSON', false)
  command('list', 'every number').action(async ({ json, test }: World) => {
    const rows = await actions.admin((admin) => admin.richNumbers.list(test))
    print(json, rows.map(numberJson), () => rows.map(lineOf))
  })
  command('add', 'take a number of the provider into the inventory')
    .argument('<number>', 'in E.164, as +14155550123')
    .requiredOption('--identity <id>', 'the name of the number at the provider (x-service-provider-identity-id)')
    .action(async (e164: string, { json, test, identity }: World & { identity: string }) => {
      const number = { test, e164, providerIdentity: identity }
      printNumber(json, await actions.admin((admin) => admin.richNumbers.add(number)))
    })
  command('assign', 'put a number into the pool of an organization')
    .argument('<number>', 'in E.164, or its id')
    .requiredOption('--org <organization>', 'name or id of the organization')
    .action(async (name: string, { json, test, org }: World & { org: string }) => {
      printNumber(json, await actions.admin((admin) => admin.richNumbers.assign({ test, name }, org)))
    })
  command(
    'sync',
    'ask the provider for every number: those that it has lost are unavailable until they are back',
  ).action(async ({ json, test }: World) => {
    const { changed, unknown } = await actions.admin((admin) => admin.richNumbers.sync(test))
    const counts = `${changed.length} changed, ${unknown} not known, because the provider does not answer`
    print(json, { changed: changed.map(numberJson), unknown }, () => [...changed.map(lineOf), counts])
  })
  for (const [change, description] of Object.entries(changes) as [NumberChange, string][])
    command(change, description)
      .argument('<number>', 'in E.164, or its id')
      .action(async (name: string, { json, test }: World) => {
        printNumber(json, await actions.admin((admin) => admin.richNumbers.change({ test, name }, change)))
      })
}

function printNumber(json: boolean, row: RichNumberRow): void {
  print(json, numberJson(row), () => [lineOf(row)])
}

function lineOf({ id, e164, providerIdentity, organizationId, agentId, status, smsStatus }: RichNumberRow): string {
  const pool = organizationId ?? 'in no pool'
  return [id, e164, providerIdentity, pool, ...(agentId === null ? [] : [agentId]), status, `sms ${smsStatus}`].join(
    '  ',
  )
}

function numberJson(row: RichNumberRow) {
  return {
    id: row.id,
    phoneNumber: row.e164,
    identity: row.providerIdentity,
    organizationId: row.organizationId,
    agentId: row.agentId,
    status: row.status,
    smsStatus: row.smsStatus,
  }
}
