import type { Command } from 'commander'
import type { ListCallsCall } from '../generated/clients/typescript/platform.ts'
import type { CallOverview } from '../generated/platform/types.ts'
import type { Actions } from './actions.ts'
import { table } from './choice.ts'
import { platformClient } from './client.ts'
import { agentNamed } from './named.ts'
import { wholeNumber } from './number-option.ts'
import { print } from './print.ts'
import { linesOfCall } from './show-call.ts'
import { tailCall } from './tail-call.ts'
import { oneLine } from './terminal.ts'
import { timeOf } from './time-option.ts'

type Query = NonNullable<ListCallsCall['query']>
type Filters = Pick<Query, 'status' | 'kind' | 'outcome' | 'number' | 'cursor'> & {
  limit: number
  agent?: string
  from?: string
  to?: string
  search?: string
}
type Json = { json: boolean }

export function calls(program: Command, actions: Actions): void {
  const group = program.command('calls').description('sessions and calls: list them, read one, follow one, end one')
  addList(group, actions)
  group
    .command('show')
    .description('a call in words: transcript, latencies of each turn, what each silence was spent on, cost')
    .argument('<id>', 'id of a session or a call')
    .option('--json', 'print the call as GET /v1/calls/{id} answers it', false)
    .action(async (id: string, { json }: Json) => {
      const { body } = await platformClient(await actions.connection()).getCall({ path: { id } })
      print(json, body, () => linesOfCall(body))
    })
  group
    .command('tail')
    .description('follow a session until it is over: finished turns, events, changes of its status')
    .argument('<id>', 'id of a session or a call')
    .option('--json', 'print each event of the stream as a line of JSON', false)
    .action(async (id: string, { json }: Json) => {
      await tailCall(platformClient(await actions.connection()), id, json)
    })
  group
    .command('end')
    .description('end a call or a session; one that is over stays as it is')
    .argument('<id>', 'id of a session or a call')
    .option('--json', 'print the answer as it came', false)
    .action(async (id: string, { json }: Json) => {
      const { body } = await platformClient(await actions.connection()).endCall({ path: { id } })
      print(json, body, () => [body.status === 'already_ended' ? `${id} was over before` : `${id} ends now`])
    })
}

function addList(group: Command, actions: Actions): void {
  group
    .command('list')
    .description('sessions and calls, newest first; all filters that are given must hold')
    .option('--status <name>', 'such as in_progress, completed, failed')
    .option('--kind <name>', 'browser, outbound, inbound or rmsg')
    .option('--outcome <name>', 'of the report, such as resolved, voicemail, failed')
    .option('--number <number>', 'of one party: +12125550199, or its last digits')
    .option('--search <words>', 'words that one turn contains, in any order')
    .option('--agent <agent>', 'of this agent: its name, or its id, agent_…')
    .option('--from <time>', 'made at this time or later, such as 2026-11-21 or 2026-11-21T16:00:00Z')
    .option('--to <time>', 'made before this time')
    .option('--limit <count>', 'the most that one page has, 1 to 200', wholeNumber('--limit', 1, 200), 20)
    .option('--cursor <cursor>', 'the next page, as the page before names it')
    .option('--json', 'print the answer as it came', false)
    .action(async ({ json, limit, from, to, agent, search, ...filters }: Filters & Json) => {
      const times = { ...(from && { since: timeOf('--from', from) }), ...(to && { until: timeOf('--to', to) }) }
      const client = platformClient(await actions.connection())
      const ofAgent = agent === undefined ? {} : { agent_id: await agentNamed(client, agent) }
      const ofWords = search === undefined ? {} : { q: search }
      const query = { ...filters, ...times, ...ofAgent, ...ofWords, limit }
      const { body } = await client.listCalls({ query })
      print(json, body, () => [
        ...(body.calls.length > 0 ? table([heading, ...body.calls.map(rowOf)]) : ['no calls']),
        ...(body.next_cursor === null ? [] : ['', `more: --cursor ${body.next_cursor}`]),
      ])
    })
}

const heading = [
  'id',
  'made',
  'status',
  'ended by',
  'kind',
  'number',
  'language',
  'lasted',
  'turns',
  'latency',
  'recording',
  'agent',
]

/** Returns the number of the other party. */
function otherNumberOf({ direction, from, to }: CallOverview): string {
  return (direction === 'inbound' ? from : to) ?? '–'
}

/** Returns a table row for a call. If its agent was deleted, the row shows the agent's id, because the name is gone. */
function rowOf(call: CallOverview): string[] {
  const { latency_ms: latency } = call
  return [
    call.id,
    call.created_at.slice(0, 19).replace('T', ' '),
    call.status,
    call.end_reason ?? '–',
    call.kind,
    otherNumberOf(call),
    call.language,
    call.duration_seconds === null ? '–' : `${call.duration_seconds} s`,
    String(call.turns),
    latency === null ? '–' : `${Math.round(latency.p50)} ms`,
    call.recording_status ?? '–',
    oneLine(call.agent_name ?? call.agent_id ?? '–'),
  ]
}
