import type { Command } from 'commander'
import type { Actions } from './actions.ts'
import type { Decision, VerificationRow } from './admin.ts'
import { UsageError } from './command-error.ts'
import { print } from './print.ts'
import { oneLine } from './terminal.ts'

const reasonCharactersMax = 2_000

export function kyb(program: Command, actions: Actions): void {
  const group = program.command('kyb').description('the verification of businesses, which may then buy phone numbers')
  const command = (name: string, description: string) =>
    group.command(name).description(description).option('--json', 'print as JSON', false)
  const decide = async (organization: string, decision: Decision, json: boolean) => {
    const row = await actions.admin((admin) => admin.decide(organization, decision))
    print(json, verificationJson(row), () => [lineOf(row)])
  }
  command('list', 'what organizations have saved or submitted').action(async ({ json }: Json) => {
    const rows = await actions.admin((admin) => admin.verifications())
    print(json, rows.map(verificationJson), () => rows.map(lineOf))
  })
  command('approve', 'approve what an organization has submitted')
    .requiredOption('--org <organization>', 'name or id of the organization')
    .action(({ org, json }: Decided) => decide(org, { event: 'approve' }, json))
  command('reject', 'reject what an organization has submitted; it reads the reason and may submit again')
    .requiredOption('--org <organization>', 'name or id of the organization')
    .requiredOption('--reason <text>', 'why, for the organization')
    .action(({ org, json, reason }: Decided & { reason: string }) =>
      decide(org, { event: 'reject', reason: readReason(reason) }, json),
    )
  command('revoke', 'take an approval back: the organization keeps its numbers and buys no more')
    .requiredOption('--org <organization>', 'name or id of the organization')
    .action(({ org, json }: Decided) => decide(org, { event: 'revoke' }, json))
}

type Json = { json: boolean }
type Decided = Json & { org: string }

function readReason(text: string): string {
  if (text.trim() === '' || [...text].length > reasonCharactersMax)
    throw new UsageError(`--reason takes 1 to ${reasonCharactersMax} characters`)
  return text
}

/**
 * Writes a verification on one line. The name comes from the organization, and a line break in it could imitate another
 * organization's line, so control characters are removed.
 */
function lineOf(row: VerificationRow): string {
  return [row.organizationId, row.status, oneLine(legalNameOf(row) ?? '') || '(no name)'].join('  ')
}

function legalNameOf({ businessProfile }: VerificationRow): string | null {
  const name = businessProfile?.['legalName']
  return typeof name === 'string' ? name : null
}

function verificationJson(row: VerificationRow) {
  return {
    organizationId: row.organizationId,
    status: row.status,
    legalName: legalNameOf(row),
    rejectionReason: row.rejectionReason,
    submittedAt: row.submittedAtMs === null ? null : new Date(row.submittedAtMs).toISOString(),
  }
}
