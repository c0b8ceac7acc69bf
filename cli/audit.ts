import type { Command } from 'commander'
import type { AuditEvent, AuditResult } from '../generated/platform/types.ts'
import type { Actions } from './actions.ts'
import { table } from './choice.ts'
import { platformClient } from './client.ts'
import { wholeNumber } from './number-option.ts'
import { print } from './print.ts'
import { timeOf } from './time-option.ts'

type Options = {
  actor?: string
  action?: string
  target?: string
  denied: boolean
  from?: string
  to?: string
  limit: number
  cursor?: string
  json: boolean
}

export function audit(program: Command, actions: Actions): void {
  program
    .command('audit')
    .description('the changes that people, keys and commands made in an organization, newest first')
    .option('--actor <id>', 'only those of this person or key')
    .option('--action <action>', 'only this action, such as key.created, or a family such as key.*')
    .option('--target <id>', 'only changes of this thing')
    .option('--denied', 'only refusals of people whose role was too low', false)
    .option('--from <time>', 'from this time on, such as 2026-11-01')
    .option('--to <time>', 'before this time')
    .option('--limit <count>', 'the most that one page has, 1 to 200', wholeNumber('--limit', 1, 200), 50)
    .option('--cursor <cursor>', 'the next page, as the page before names it')
    .option('--json', 'print the answer as it came', false)
    .action(async ({ json, ...options }: Options) => {
      const client = platformClient(await actions.connection())
      const { body } = await client.listAuditEvents({ query: queryOf(options) })
      print(json, body, () => [
        ...(body.events.length > 0 ? table([heading, ...body.events.map(rowOf)]) : ['nothing is in the log']),
        ...(body.nextCursor === null ? [] : ['', `more: --cursor ${body.nextCursor}`]),
      ])
    })
}

function queryOf({ actor, action, target, denied, from, to, limit, cursor }: Omit<Options, 'json'>) {
  const result: AuditResult = 'denied'
  return {
    ...(actor !== undefined && { actorId: actor }),
    ...(action !== undefined && { action }),
    ...(target !== undefined && { targetId: target }),
    ...(denied && { result }),
    ...(from !== undefined && { from: timeOf('--from', from) }),
    ...(to !== undefined && { to: timeOf('--to', to) }),
    ...(cursor !== undefined && { cursor }),
    limit,
  }
}

const heading = ['at', 'who', 'action', 'what', 'changed', 'from']

function rowOf({ occurredAt, actor, action, target, changed, source }: AuditEvent): string[] {
  return [
    occurredAt.slice(0, 19).replace('T', ' '),
    actor.name ?? actor.id ?? actor.type,
    action,
    target === null ? '–' : (target.name ?? target.id),
    changed.join(',') || '–',
    `${source.ip ?? 'this machine'} (${source.via})`,
  ]
}
