import type { Command } from 'commander'
import type { Actions } from './actions.ts'
import type { OrganizationRow } from './admin.ts'
import { CommandError } from './command-error.ts'

const microUsdPerUsd = 1_000_000

export function org(program: Command, actions: Actions): void {
  const group = program.command('org').description('organizations and their credit')
  group
    .command('create')
    .description('a new organization')
    .argument('<name>')
    .action(async (name: string) => print(await actions.admin((admin) => admin.createOrganization(name))))
  group
    .command('list')
    .description('every organization')
    .action(async () => {
      for (const row of await actions.admin((admin) => admin.organizations())) print(row)
    })
  group
    .command('credit')
    .description('add credit, in US dollars; a negative amount takes it away')
    .argument('<id>', 'organization id, org_…')
    .argument('<dollars>', 'for example 25 or -3.50')
    .action(async (id: string, dollars: string) => {
      if (!/^-?\d+(\.\d{1,6})?$/.test(dollars))
        throw new CommandError(`${dollars} is no amount in dollars with at most six decimals`)
      const microUsd = Math.round(Number(dollars) * microUsdPerUsd)
      print(await actions.admin((admin) => admin.addCredit(id, microUsd)))
    })
}

function print(row: OrganizationRow): void {
  const dollars = (row.creditMicroUsd / microUsdPerUsd).toFixed(2)
  console.log([row.id, row.name, `credit $${dollars}`, `concurrency ${row.maxConcurrency ?? 'unlimited'}`].join('  '))
}
