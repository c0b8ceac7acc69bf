import { randomUUID } from 'node:crypto'
import type { Command } from 'commander'
import { platformContract } from '../generated/platform/contract.ts'
import type { WebhookEventType } from '../generated/platform/types.ts'
import type { Actions } from './actions.ts'
import { platformClient } from './client.ts'
import { CommandError } from './command-error.ts'
import { addressOf, postTo, secretOption } from './local-receiver.ts'
import { milliseconds, oneLine } from './terminal.ts'

type Options = { endpoint?: string; forwardTo?: string; secret?: string }

const types = ['call.pre_call', 'call.status', 'call.report', 'call.analysis', 'call.recording'] as const

export function trigger(program: Command, actions: Actions): void {
  program
    .command('trigger')
    .description('send an example of a webhook event, which says test: true')
    .argument('<event>', types.join(', '))
    .option('--endpoint <id>', 'Parley sends it to this endpoint and logs the delivery')
    .option('--forward-to <url>', 'this command sends it, signed as `parley listen` signs', addressOf)
    .addOption(secretOption('the one of `parley listen`'))
    .action(async (event: string, { endpoint, forwardTo, secret }: Options) => {
      if (!isType(event)) throw new CommandError(`${oneLine(event)} is no event: write one of ${types.join(', ')}`)
      if (endpoint !== undefined && forwardTo === undefined) return sendByParley(actions, endpoint, event)
      if (endpoint === undefined && forwardTo !== undefined) return send(actions, forwardTo, secret, event)
      throw new CommandError('name either --endpoint or --forward-to')
    })
}

const isType = (text: string): text is WebhookEventType => (types as readonly string[]).includes(text)

async function sendByParley(actions: Actions, id: string, event: WebhookEventType): Promise<void> {
  const { body } = await platformClient(await actions.connection()).testWebhook({ path: { id }, body: { event } })
  const { delivered, httpStatus, error, deliveryId, preCall } = body
  console.log(`${delivered ? 'delivered' : `failed: ${error}`}, ${httpStatus ?? 'no answer'}, delivery ${deliveryId}`)
  for (const issue of preCall?.issues ?? []) console.log(`  ${oneLine(issue.path)}: ${oneLine(issue.message)}`)
  if (!delivered || preCall?.valid === false) process.exitCode = 1
}

async function send(actions: Actions, url: string, secret: string | undefined, event: WebhookEventType): Promise<void> {
  const signer = await actions.webhookSigner(secret)
  const body = JSON.stringify({ ...exampleOf(event), created_at: new Date().toISOString(), test: true })
  const { isReceived, answer, ms } = await postTo({ url, signer }, { id: randomUUID(), body })
  const signed = signer.keptSecret === null ? '' : `, signed with ${signer.keptSecret}`
  console.log(`${answer}, ${milliseconds(ms)}${signed}`)
  if (!isReceived) process.exitCode = 1
}

type Contract = {
  webhooks: Record<
    WebhookEventType,
    { post: { requestBody: { content: { 'application/json': { examples: Record<string, { value: object }> } } } } }
  >
}

/** The first example of the event in the contract. */
function exampleOf(event: WebhookEventType): object {
  const { webhooks } = JSON.parse(platformContract) as Contract
  const [first] = Object.values(webhooks[event].post.requestBody.content['application/json'].examples)
  return first?.value ?? {}
}
