import type { Command } from 'commander'
import type { Webhook } from '../generated/platform/types.ts'
import type { Actions } from './actions.ts'
import { table } from './choice.ts'
import { platformClient } from './client.ts'
import { UsageError } from './command-error.ts'
import { wholeNumber } from './number-option.ts'
import { print } from './print.ts'
import { oneLine } from './terminal.ts'
import { addDeliveries } from './webhook-deliveries.ts'

type Json = { json: boolean }

export function webhooks(program: Command, actions: Actions): void {
  const group = program
    .command('webhooks')
    .description('endpoints that get the events of calls, the secret that signs, and the log of deliveries')
  group
    .command('list')
    .description('the endpoints, newest first')
    .option('--json', 'print the answer as it came', false)
    .action(async ({ json }: Json) => {
      const { body } = await platformClient(await actions.connection()).listWebhooks()
      print(json, body, () => (body.data.length > 0 ? table([heading, ...body.data.map(rowOf)]) : ['no endpoints']))
    })
  group
    .command('secret')
    .description(
      'the secret of the organization, which signs where an endpoint or a tool has none; needs the scope admin',
    )
    .option('--rotate', 'replace it; the old one signs beside the new one for the overlap', false)
    .option(
      '--overlap <seconds>',
      'with --rotate, 0 to 604800; a day where it is left out',
      wholeNumber('--overlap', 0, 604_800),
    )
    .option('--json', 'print the answer as it came', false)
    .action(async ({ rotate, overlap, json }: { rotate: boolean; overlap?: number } & Json) => {
      if (overlap !== undefined && !rotate) throw new UsageError('--overlap needs --rotate')
      const client = platformClient(await actions.connection())
      const { body } = rotate
        ? await client.rotateWebhookSecret({ body: overlap === undefined ? {} : { overlapSeconds: overlap } })
        : await client.getWebhookSecret()
      const { secret, previousExpiresAt } = body
      print(json, body, () => [
        secret,
        ...(previousExpiresAt === null ? [] : [`the secret before it signs too until ${previousExpiresAt}`]),
      ])
    })
  addDeliveries(group, actions)
}

const heading = ['id', 'name', 'url', 'events', 'agents', 'tags', 'state']

function rowOf(webhook: Webhook): string[] {
  const tags = Object.entries(webhook.filterTags).map(([key, value]) => `${key}=${value}`)
  return [
    webhook.id,
    oneLine(webhook.name).slice(0, 40),
    // A query can have a secret, so it is not shown.
    oneLine(webhook.url.split(/[?#]/)[0] ?? '').slice(0, 60),
    webhook.events.map((event) => event.replace('call.', '')).join(','),
    webhook.allAgents ? 'all' : String(webhook.agentIds.length),
    oneLine(tags.join(' ')).slice(0, 40) || '–',
    webhook.disabledReason ?? 'enabled',
  ]
}
