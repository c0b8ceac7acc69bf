import type { Command } from 'commander'
import type { ListCallbacksCall } from '../generated/clients/typescript/platform.ts'
import type { Callback } from '../generated/platform/types.ts'
import type { Actions } from './actions.ts'
import { table } from './choice.ts'
import { platformClient } from './client.ts'
import { wholeNumber } from './number-option.ts'
import { print } from './print.ts'
import { oneLine } from './terminal.ts'

type Filters = Pick<NonNullable<ListCallbacksCall['query']>, 'status' | 'cursor'> & { limit: number; session?: string }
type Json = { json: boolean }

export function callbacks(program: Command, actions: Actions): void {
  const group = program.command('callbacks').description('calls that agents have promised to make later')
  group
    .command('list')
    .description('scheduled callbacks, newest first; all filters that are given must hold')
    .option('--status <name>', 'scheduled, dispatching, dispatched, cancelled or failed')
    .option('--session <id>', 'of the session in which it was promised')
    .option('--limit <count>', 'the most that one page has, 1 to 100', wholeNumber('--limit', 1, 100), 25)
    .option('--cursor <cursor>', 'the next page, as the page before names it')
    .option('--json', 'print the answer as it came', false)
    .action(async ({ json, limit, session, ...filters }: Filters & Json) => {
      const query = { ...filters, ...(session && { source_session_id: session }), limit }
      const { body } = await platformClient(await actions.connection()).listCallbacks({ query })
      print(json, body, () => [
        ...(body.callbacks.length > 0 ? table([heading, ...body.callbacks.map(rowOf)]) : ['no callbacks']),
        ...(body.next_cursor === null ? [] : ['', `more: --cursor ${body.next_cursor}`]),
      ])
    })
  group
    .command('cancel')
    .description('cancel one that is still scheduled')
    .argument('<id>', 'callback id, callback_…')
    .option('--reason <text>', 'for the events of its session')
    .option('--json', 'print the callback as the server answers it', false)
    .action(async (id: string, { reason, json }: { reason?: string } & Json) => {
      const client = platformClient(await actions.connection())
      const { body } = await client.cancelCallback({ path: { id }, body: reason === undefined ? {} : { reason } })
      print(json, body, () => [`${id} is cancelled`])
    })
}

const heading = ['id', 'for', 'to', 'status', 'last failure', 'reason']

function rowOf(callback: Callback): string[] {
  return [
    callback.id,
    callback.scheduled_at.slice(0, 19).replace('T', ' '),
    callback.to_number,
    callback.status,
    callback.failure_cause ?? '–',
    oneLine(callback.reason ?? '–').slice(0, 60),
  ]
}
