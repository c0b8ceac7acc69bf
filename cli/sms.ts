import type { Command } from 'commander'
import type { Actions } from './actions.ts'
import type { SharedCampaignRow } from './admin.ts'
import { UsageError } from './command-error.ts'
import { print } from './print.ts'
import { oneLine } from './terminal.ts'

const labelCharactersMax = 100

export function sms(program: Command, actions: Actions): void {
  const group = program
    .command('sms')
    .description('text messages in the USA (10DLC)')
    .command('shared-campaign')
    .description('the campaign of the operator that the numbers of every organization may use')
  const command = (name: string, description: string) =>
    group.command(name).description(description).option('--json', 'print as JSON', false)
  const show = (row: SharedCampaignRow | null, json: boolean) =>
    print(json, row && jsonOf(row), () => [row === null ? 'there is no shared campaign' : lineOf(row)])
  command('show', 'print it, with its status of the last time that the carrier was asked').action(
    async ({ json }: Json) => show(await actions.admin((admin) => admin.sharedCampaign()), json),
  )
  command('set', 'share a campaign that the carrier knows')
    .requiredOption('--label <text>', 'what organizations read')
    .requiredOption('--campaign-id <id>', 'its id at the carrier')
    .action(async ({ json, label, campaignId }: Json & { label: string; campaignId: string }) => {
      const campaign = { label: readLabel(label), campaignId }
      show(await actions.admin((admin) => admin.shareCampaign(campaign)), json)
    })
  command('clear', 'share none; numbers that it has keep it').action(async ({ json }: Json) => {
    await actions.admin((admin) => admin.shareCampaign(null))
    show(null, json)
  })
}

type Json = { json: boolean }

function readLabel(text: string): string {
  if (text.trim() === '' || [...text].length > labelCharactersMax || text.includes('\0'))
    throw new UsageError(`--label takes 1 to ${labelCharactersMax} characters`)
  return text
}

const lineOf = ({ campaignId, status, label }: SharedCampaignRow) => [campaignId, status, oneLine(label)].join('  ')

const jsonOf = ({ label, campaignId, status }: SharedCampaignRow) => ({ label, campaignId, status })
