import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import type { PlatformClient } from '../generated/clients/typescript/platform.ts'
import type { WebhookDelivery } from '../generated/platform/types.ts'
import type { Actions } from './actions.ts'
import { platformClient } from './client.ts'
import { mayPass } from './follow-stream.ts'
import { endpointNamed } from './named.ts'
import { print } from './print.ts'
import { oneLine } from './terminal.ts'
import { timeOf } from './time-option.ts'

type Json = { json: boolean }
type Range = { since: string; until?: string }

/** Adds the delivery log's commands to the group `webhooks`. */
export function addDeliveries(group: Command, actions: Actions): void {
  group
    .command('resend')
    .description('send a delivery once more, now, with the same webhook-id and the same bytes')
    .argument('<id>', 'id of a delivery, as `webhooks tail` prints it')
    .option('--json', 'print the answer as it came', false)
    .action(async (id: string, { json }: Json) => {
      const { body } = await platformClient(await actions.connection()).redeliverWebhook({ path: { id } })
      print(json, body, () => [body.delivered ? `delivered, ${body.httpStatus}` : `failed: ${reasonOf(body)}`])
      if (!body.delivered) process.exitCode = 1
    })
  group
    .command('recover')
    .description('send the failed deliveries to an endpoint again, at most 10,000 of them')
    .argument('<endpoint>', 'its name or its id')
    .requiredOption('--since <time>', 'created then or later, and at most 30 days ago: 2026-11-21T16:00:00Z')
    .option('--until <time>', 'created before this time')
    .option('--json', 'print the answer as it came', false)
    .action(async (endpoint: string, { since, until, json }: Range & Json) => {
      const range = { since: timeOf('--since', since), ...(until && { until: timeOf('--until', until) }) }
      const client = platformClient(await actions.connection())
      const id = await endpointNamed(client, endpoint)
      const { body } = await client.recoverWebhook({ path: { id }, body: range })
      print(json, body, () => recoveredLines(body.deliveries))
    })
  group
    .command('tail')
    .description('deliveries as they change, until Ctrl-C')
    .option('--endpoint <endpoint>', 'to this endpoint: its name or its id')
    .option('--json', 'print each change as a line of JSON', false)
    .action(async ({ endpoint, json }: { endpoint?: string } & Json) => {
      const client = platformClient(await actions.connection())
      const endpointId = endpoint === undefined ? undefined : await endpointNamed(client, endpoint)
      await tail(client, endpointId, (delivery) => console.log(json ? JSON.stringify(delivery) : lineOf(delivery)))
    })
}

/** The contract's limit for one request. */
const recoveredMax = 10_000

const recoveredLines = (deliveries: number) => [
  `${deliveries} ${deliveries === 1 ? 'delivery is' : 'deliveries are'} sent again`,
  ...(deliveries < recoveredMax ? [] : ['more may be left: repeat the command']),
]

const lookEveryMs = 1_000
/** The limit for watched deliveries. Changes to older deliveries are not shown. */
const watchedMax = 100
/** After this many failed requests in a row the command gives up. */
const failuresMax = 30

/**
 * Prints each delivery that changes from now on. A delivery's status or number of attempts changes at each attempt, so
 * a delivery counts as changed if one of them differs.
 */
async function tail(
  client: PlatformClient,
  endpointId: string | undefined,
  show: (delivery: WebhookDelivery) => void,
): Promise<never> {
  let states: ReadonlyMap<string, string> | null = null
  let failures = 0
  for (;;) {
    try {
      const query = { limit: watchedMax, ...(endpointId !== undefined && { endpointId }) }
      const { data } = (await client.listWebhookDeliveries({ query })).body
      const before: ReadonlyMap<string, string> | null = states
      // The server lists deliveries newest first, and they are printed oldest first.
      if (before === null) console.error('watching the deliveries; Ctrl-C ends it')
      else for (const each of data.toReversed()) if (before.get(each.id) !== stateOf(each)) show(each)
      states = new Map(data.map((each) => [each.id, stateOf(each)]))
      failures = 0
    } catch (error) {
      failures += 1
      if (states === null || failures >= failuresMax || !mayPass(error)) throw error
    }
    await sleep(lookEveryMs)
  }
}

const stateOf = ({ status, attempts }: WebhookDelivery) => `${status} ${attempts}`

function reasonOf({ error, httpStatus }: { error: string | null; httpStatus: number | null }): string {
  return [error, httpStatus].filter((part) => part !== null).join(', ')
}

function lineOf(delivery: WebhookDelivery): string {
  const { id, event, status, attempts, endpointName, sessionId } = delivery
  const reason = status === 'succeeded' ? '' : reasonOf(delivery)
  const time = new Date().toISOString().slice(11, 23)
  const name = oneLine(endpointName).slice(0, 40)
  return [time, event.padEnd(14), sessionId, id, name, `${status} after ${attempts}`, reason].join('  ').trimEnd()
}
