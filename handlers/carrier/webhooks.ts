/** Receives carriers' events about call legs. */
import type { CarrierWebhooks } from '../../domain/ports/carrier-webhooks.ts'
import type { CountIgnoredEvent, LegEvents, LineName } from '../../domain/ports/phone-line.ts'
import type { InternalHandlers } from '../../generated/internal/handlers.ts'
import { Refusal } from '../../runtime/engine/handler.ts'

export type CarrierWebhookDeps = {
  /** The readers of webhook events, by line (a carrier or the simulator). */
  readers: ReadonlyMap<LineName, CarrierWebhooks>
  events: LegEvents
  countIgnored: CountIgnoredEvent
}

const headers = { 'Cache-Control': 'no-store' } as const

/** Handles an event. If it cannot be stored, the response is an error, so that the carrier sends the event again. */
export function receiveCarrierWebhook({
  readers,
  events,
  countIgnored,
}: CarrierWebhookDeps): Pick<InternalHandlers<null>, 'receiveCarrierWebhook'> {
  return {
    receiveCarrierWebhook: async ({ path: { line }, header }, { rawBody }) => {
      const reader = readers.get(line)
      if (reader === undefined) throw new Refusal('not_found')
      const event = reader.read(header, rawBody ?? new Uint8Array())
      if (event === 'forged') {
        countIgnored(line, 'forged')
        throw new Refusal('unauthenticated', {
          message: 'The event is not signed by this carrier, or is older than 300 s.',
          hint: 'Check the public key of the carrier in the settings, and the clock of this machine.',
        })
      }
      if (event !== 'other') await events.received(line, event)
      return { status: 200, headers, body: { received: true } }
    },
  }
}
