/** The operator's commands for numbers that organizations import. */
import type { Command } from 'commander'
import type { Actions } from './actions.ts'
import type { ImportRow } from './admin.ts'
import { table } from './choice.ts'
import { print } from './print.ts'
import { oneLine } from './terminal.ts'

type Json = { json: boolean }

export function numberImports(group: Command, actions: Actions): void {
  const command = (name: string, description: string) =>
    group.command(name).description(description).option('--json', 'print as JSON', false)
  command('conflicts', 'the numbers that several organizations have, for the operator of the server').action(
    async ({ json }: Json) => {
      const rows = await actions.admin((admin) => admin.numberConflicts())
      print(json, rows, () => (rows.length > 0 ? linesOf(rows) : ['no number has several organizations']))
    },
  )
  command('waiting', 'the imports that wait for the approval of the operator of the server').action(
    async ({ json }: Json) => {
      const rows = await actions.admin((admin) => admin.waitingImports())
      print(json, rows, () => (rows.length > 0 ? [...linesOf(rows), toApprove] : ['no import waits']))
    },
  )
  command('approve', 'approve the import of a number: the number then takes and places calls')
    .argument('<number>', 'with + and its country code, for example +493012345678')
    .requiredOption('--org <organization>', 'name or id of the organization that has imported it')
    .action(async (e164: string, { json, org }: Json & { org: string }) => {
      await actions.admin((admin) => admin.approveImport(org, e164))
      print(json, { e164, organization: org, approved: true }, () => [
        `${oneLine(e164)} is approved for ${oneLine(org)}`,
      ])
    })
}

const toApprove =
  '`parley numbers approve NUMBER --org ORGANIZATION` approves one. Ask the organization to prove that the number is its own.'

const heading = ['number', 'organization', 'name', 'over', 'since', 'state']

/** The names come from organizations, so control characters are removed from them. */
const linesOf = (rows: readonly ImportRow[]) =>
  table([
    heading,
    ...rows.map(({ e164, organizationId, organizationName, connectionName, awaitsApproval, createdAt }) => [
      e164,
      organizationId,
      oneLine(organizationName),
      oneLine(connectionName ?? 'the carrier'),
      createdAt.toISOString(),
      awaitsApproval ? 'waits for approval' : 'in use',
    ]),
  ])
