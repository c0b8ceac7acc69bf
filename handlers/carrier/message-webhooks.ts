/** Receives events from rich-message providers. */
import type { RichMessageWebhooks } from '../../domain/ports/rich-messages.ts'
import type { ReceiveEvent } from '../../domain/rmsg/events.ts'
import type { InternalHandlers } from '../../generated/internal/handlers.ts'
import { Refusal } from '../../runtime/engine/handler.ts'

export type MessageWebhookDeps = {
  /** The readers of webhook events, by the rich-message provider's name. */
  readers: ReadonlyMap<string, RichMessageWebhooks>
  receive: ReceiveEvent
}

/** The Retry-After in seconds if the same event is still being delivered. After this time the delivery has ended. */
const retryAfterS = 15

const headers = { 'Cache-Control': 'no-store' } as const

/**
 * Handles an event. If it cannot be delivered, the response is an error, so that the provider sends the event again.
 */
export function receiveMessageWebhook({
  readers,
  receive,
}: MessageWebhookDeps): Pick<InternalHandlers<null>, 'receiveMessageWebhook'> {
  return {
    receiveMessageWebhook: async ({ path: { provider }, query: { message = null }, header }, { rawBody }) => {
      const body = rawBody ?? new Uint8Array()
      const reader = readers.get(provider)
      if (reader === undefined) throw new Refusal('not_found')
      const event = reader.read(header, body, message)
      if (event === 'forged')
        throw new Refusal('unauthenticated', {
          message: 'The event is not signed by this provider, or is older than 300 s.',
          hint: 'Check the public key of the provider in the settings, and the clock of this machine.',
        })
      const outcome = event === 'other' ? 'taken' : await receive(event)
      if (outcome === 'in_work')
        throw new Refusal('overloaded', { message: 'The event is being delivered. Send it again later.', retryAfterS })
      if (outcome === 'not_taken') return { status: 502, headers, body: { received: false } }
      return { status: 200, headers, body: { received: true } }
    },
  }
}
