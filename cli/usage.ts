import type { Command } from 'commander'
import type { Usage, UsageRow, UsageTotal } from '../generated/platform/types.ts'
import type { Actions } from './actions.ts'
import type { GroupedUsage } from './admin.ts'
import { table } from './choice.ts'
import { platformClient } from './client.ts'
import { UsageError } from './command-error.ts'
import { ofWhom } from './credits.ts'
import { dollarsOf } from './dollars.ts'
import { print } from './print.ts'
import { timeOf } from './time-option.ts'

type Options = { org?: string; by: string; from?: string; to?: string; json: boolean }

export function usage(program: Command, actions: Actions): void {
  program
    .command('usage')
    .description('what an organization has used, and what it cost')
    .option('--org <organization>', ofWhom)
    .option('--by <groups>', 'any of hour, day, key, agent, provider, model, stage, with commas', 'day,stage')
    .option('--from <time>', 'from this time on, such as 2026-11-01 (midnight UTC); by default 30 days before --to')
    .option('--to <time>', 'before this time; by default now')
    .option('--json', 'print the answer as it came', false)
    .action(async ({ json, org, by, from, to }: Options) => {
      const times = { ...(from && { from: timeOf('--from', from) }), ...(to && { to: timeOf('--to', to) }) }
      const query = { ...times, groupBy: groupsOf(by) }
      const body =
        org === undefined
          ? (await platformClient(await actions.connection()).getUsage({ query })).body
          : await actions.admin((admin) => admin.usage(org, query))
      print(json, body, () => linesOf(body))
    })
}

const groups = ['hour', 'day', 'key', 'agent', 'provider', 'model', 'stage']

function groupsOf(by: string): string {
  const unknown = by.split(',').find((group) => !groups.includes(group))
  if (unknown === undefined) return by
  throw new UsageError(`--by: ${unknown || 'nothing'} is no group; there are ${groups.join(', ')}`)
}

const sums = ['requests', 'failed', 'legs', 'unpriced', 'cost', 'quantities']

function linesOf({ groupBy, timeZone, rows, total }: GroupedUsage): string[] {
  if (rows.length === 0) return ['nothing was used']
  const empty = groupBy.map((_, at) => (at === 0 ? 'total' : ''))
  return table([
    [...groupBy.map((group) => (group === 'day' ? `day (${timeZone})` : group)), ...sums],
    ...rows.map((row) => [...groupBy.map((group) => valueOf(row, group) ?? '–'), ...cellsOf(row)]),
    [...empty, ...cellsOf(total)],
  ])
}

function valueOf(row: UsageRow, group: Usage['groupBy'][number]): string | null | undefined {
  if (group === 'key') return row.keyId
  return group === 'agent' ? row.agentId : row[group]
}

function cellsOf({ requests, failed, legs, unpriced, costMicroUsd, quantities }: UsageTotal): string[] {
  const counts = [requests, failed, legs, unpriced].map(String)
  const used = Object.entries(quantities).map(([unit, amount]) => `${amount} ${unit}`)
  return [...counts, costMicroUsd === null ? 'unknown' : dollarsOf(costMicroUsd), used.join(', ')]
}
