import { randomUUID } from 'node:crypto'
import type { Command } from 'commander'
import { platformContract } from '../generated/platform/contract.ts'
import type { WebhookEventType } from '../generated/platform/types.ts'
import type { Actions } from './actions.ts'
import { platformClient } from './client.ts'
import { UsageError } from './command-error.ts'
import { addressOf, postTo, secretOption } from './local-receiver.ts'
import { endpointNamed } from './named.ts'
import { print } from './print.ts'
import { milliseconds, oneLine } from './terminal.ts'

type Options = { endpoint?: string; forwardTo?: string; secret?: string; json: boolean }

const types = ['call.pre_call', 'call.status', 'call.report', 'call.analysis', 'call.recording'] as const

export function trigger(program: Command, actions: Actions): void {
  program
    .command('trigger')
    .description('send an example of a webhook event, which says test: true')
    .argument('<event>', types.join(', '))
    .option('--endpoint <endpoint>', 'Parley sends it to this endpoint, by name or id, and logs the delivery')
    .option('--forward-to <url>', 'this command sends it, signed as `parley listen` signs', addressOf)
    .addOption(secretOption('the one of `parley listen`'))
    .option('--json', 'print the result as JSON', false)
    .action(async (event: string, { endpoint, forwardTo, secret, json }: Options) => {
      if (!isType(event)) throw new UsageError(`${oneLine(event)} is no event: write one of ${types.join(', ')}`)
      if (endpoint !== undefined && forwardTo === undefined) return sendByParley(actions, endpoint, event, json)
      if (endpoint === undefined && forwardTo !== undefined)
        return send(actions, { url: forwardTo, secret, event, json })
      throw new UsageError('name either --endpoint or --forward-to')
    })
}

const isType = (text: string): text is WebhookEventType => (types as readonly string[]).includes(text)

async function sendByParley(actions: Actions, endpoint: string, event: WebhookEventType, json: boolean): Promise<void> {
  const client = platformClient(await actions.connection())
  const { body } = await client.testWebhook({ path: { id: await endpointNamed(client, endpoint) }, body: { event } })
  const { delivered, httpStatus, error, deliveryId, preCall } = body
  print(json, body, () => [
    `${delivered ? 'delivered' : `failed: ${error}`}, ${httpStatus ?? 'no answer'}, delivery ${deliveryId}`,
    ...(preCall?.issues ?? []).map((issue) => `  ${oneLine(issue.path)}: ${oneLine(issue.message)}`),
  ])
  if (!delivered || preCall?.valid === false) process.exitCode = 1
}

type Local = { url: string; secret: string | undefined; event: WebhookEventType; json: boolean }

async function send(actions: Actions, { url, secret, event, json }: Local): Promise<void> {
  const signer = await actions.webhookSigner(secret)
  const body = JSON.stringify({ ...exampleOf(event), created_at: new Date().toISOString(), test: true })
  const id = randomUUID()
  const { isReceived, answer, ms } = await postTo({ url, signer }, { id, body })
  const signed = signer.storedSecret === null ? '' : `, signed with ${signer.storedSecret}`
  const result = { id, received: isReceived, answer, durationMs: Math.round(ms), secret: signer.storedSecret }
  print(json, result, () => [`${answer}, ${milliseconds(ms)}${signed}`])
  if (!isReceived) process.exitCode = 1
}

type Contract = {
  webhooks: Record<
    WebhookEventType,
    { post: { requestBody: { content: { 'application/json': { examples: Record<string, { value: object }> } } } } }
  >
}

/** Returns the event's first example in the contract. */
function exampleOf(event: WebhookEventType): object {
  const { webhooks } = JSON.parse(platformContract) as Contract
  const [first] = Object.values(webhooks[event].post.requestBody.content['application/json'].examples)
  return first?.value ?? {}
}
