/** Events of providers of rich messages. */
import type { RichMessageWebhooks } from '../../domain/ports/rich-messages.ts'
import type { MessageStore } from '../../domain/rmsg/message.ts'
import type { InternalHandlers } from '../../generated/internal/handlers.ts'
import { Refusal } from '../../runtime/engine/handler.ts'

export type MessageWebhookDeps = {
  /** The providers of this server that send events, by name. */
  readers: ReadonlyMap<string, RichMessageWebhooks>
  messages: Pick<MessageStore, 'report'>
}

const headers = { 'Cache-Control': 'no-store' } as const

/** An event that cannot be stored is answered with an error, so that the provider sends it again. */
export function receiveMessageWebhook({
  readers,
  messages,
}: MessageWebhookDeps): Pick<InternalHandlers<null>, 'receiveMessageWebhook'> {
  return {
    receiveMessageWebhook: async ({ path: { provider }, header }, { rawBody }) => {
      const reader = readers.get(provider)
      if (reader === undefined) throw new Refusal('not_found')
      const event = reader.read(header, rawBody ?? new Uint8Array())
      if (event === 'forged')
        throw new Refusal('unauthenticated', {
          message: 'The event is not signed by this provider, or is older than 300 s.',
        })
      if (event !== 'other' && event.report !== null) await messages.report(event.messageId, event.report)
      return { status: 200, headers, body: { received: true } }
    },
  }
}
