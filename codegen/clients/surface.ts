/** Makes one document's client model. */
import {
  type AsyncApiDocument,
  type Channel,
  type Message,
  type OpenApiDocument,
  type Operation,
  pascal,
} from '../ir.ts'
import { clientViewsOf, type View } from '../views.ts'
import { Declarations } from './declarations.ts'
import type { ClientChannel, ClientFrame, ClientWebhook, Surface, Use } from './model.ts'
import { lowerOperation, lowerParameters } from './operations.ts'

export function surfaceOf(document: OpenApiDocument | AsyncApiDocument): Surface {
  const types = new Declarations(document, clientViewsOf(document))
  const contents =
    document.kind === 'openapi'
      ? {
          prefix: document.prefix,
          operations: document.operations.map((operation) => lowerOperation(operation, document.schemas, types)),
          channels: [],
          webhooks: document.webhooks.map((webhook) => lowerWebhook(webhook, types)),
          errors: document.errors,
          closeCodes: null,
        }
      : {
          prefix: '',
          operations: [],
          channels: document.channels.map((channel) => lowerChannel(channel, types)),
          webhooks: [],
          errors: null,
          closeCodes: document.errors,
        }
  return { name: document.name, file: document.file, declarations: types.all, ...contents }
}

function lowerWebhook(webhook: Operation, types: Declarations): ClientWebhook {
  const [media] = webhook.body?.content ?? []
  if (!media?.value) throw new Error(`the webhook ${webhook.path} has no body`)
  const place = { name: `${pascal(webhook.id)}Body`, view: 'answered', description: '' } as const
  return {
    id: webhook.id,
    event: webhook.path,
    summary: webhook.summary,
    body: types.use(media.value, place),
    headers: lowerParameters(webhook, types),
  }
}

function lowerChannel(channel: Channel, types: Declarations): ClientChannel {
  const { id, title, address, parameters, query, subprotocol, credentialPrefix, frameType } = channel
  const frames = (messages: readonly Message[], view: View): ClientFrame[] =>
    messages.map(({ type, isBinary, component }) => ({
      type,
      isBinary,
      use: frameUse(component, isBinary, view, types),
    }))
  return {
    ...{ id, title, address, parameters, query, subprotocol, credentialPrefix, frameType },
    sends: frames(channel.receives, 'sent'),
    receives: frames(channel.sends, 'answered'),
  }
}

function frameUse(component: string | null, isBinary: boolean, view: View, types: Declarations): Use | null {
  return isBinary || component === null ? null : types.component(component, view)
}
