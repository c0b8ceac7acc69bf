import type { Command } from 'commander'
import type { ListSessionsCall } from '../generated/clients/typescript/platform.ts'
import type { SessionItem } from '../generated/platform/types.ts'
import type { Actions } from './actions.ts'
import { table } from './choice.ts'
import { platformClient } from './client.ts'
import { agentNamed } from './named.ts'
import { print } from './print.ts'
import { linesOfCall } from './show-call.ts'
import { tailCall } from './tail-call.ts'
import { oneLine } from './terminal.ts'
import { timeOf } from './time-option.ts'

type Filters = Omit<NonNullable<ListSessionsCall['query']>, 'limit'> & { limit: string }
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
    .option('--agent <agent>', 'of this agent: its name, or its id, agent_…')
    .option('--from <time>', 'made at this time or later, such as 2026-11-21 or 2026-11-21T16:00:00Z')
    .option('--to <time>', 'made before this time')
    .option('--limit <count>', 'the most that one page has, 1 to 100', '20')
    .option('--cursor <cursor>', 'the next page, as the page before names it')
    .option('--json', 'print the answer as it came', false)
    .action(async ({ json, limit, from, to, agent, ...filters }: Filters & Json) => {
      const times = { ...(from && { from: timeOf('--from', from) }), ...(to && { to: timeOf('--to', to) }) }
      const client = platformClient(await actions.connection())
      const ofAgent = agent === undefined ? {} : { agent: await agentNamed(client, agent) }
      const query = { ...filters, ...times, ...ofAgent, limit: Number(limit) }
      const { body } = await client.listSessions({ query })
      const names = json || body.entries.length === 0 ? new Map<string, string>() : await agentNames(client)
      print(json, body, () => [
        ...(body.entries.length > 0
          ? table([heading, ...body.entries.map((item) => rowOf(item, names))])
          : ['no calls']),
        ...(body.nextCursor === null ? [] : ['', `more: --cursor ${body.nextCursor}`]),
      ])
    })
}

const heading = ['id', 'made', 'status', 'ended by', 'kind', 'number', 'language', 'lasted', 'recording', 'agent']

async function agentNames(client: ReturnType<typeof platformClient>): Promise<ReadonlyMap<string, string>> {
  // Agent names are optional here, so if the agents cannot be listed, the rows show ids.
  const agents = await client.listAgents().then(
    ({ body }) => body,
    () => [],
  )
  return new Map(agents.map(({ id, name }) => [id, name]))
}

/** Returns the number of the other party. */
function otherNumberOf({ direction, from, to }: SessionItem): string {
  return (direction === 'inbound' ? from : to) ?? '–'
}

/** Returns a table row for a call. If its agent was deleted, the row shows the agent's id, because the name is gone. */
function rowOf(item: SessionItem, names: ReadonlyMap<string, string>): string[] {
  return [
    item.sessionId,
    item.createdAt.slice(0, 19).replace('T', ' '),
    item.status,
    item.endReason ?? '–',
    item.kind,
    otherNumberOf(item),
    item.language,
    item.durationSeconds === null ? '–' : `${item.durationSeconds} s`,
    item.recordingStatus ?? '–',
    oneLine(names.get(item.agentId ?? '') ?? item.agentId ?? '–'),
  ]
}
