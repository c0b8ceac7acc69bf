/** Reads Telnyx' webhook events. */
import type { CarrierWebhooks } from '../../domain/ports/carrier-webhooks.ts'
import type { Clock } from '../../domain/ports/system.ts'
import { createSignedBodies } from '../wire/ed25519-webhooks.ts'
import { isObject } from '../wire/json.ts'
import { legEventOf } from './leg-events.ts'

/** `publicKey` is 32 bytes in base64. */
export function createTelnyxWebhooks(options: { publicKey: string; clock: Clock }): CarrierWebhooks {
  const bodies = createSignedBodies(options)
  return {
    read(headers, body) {
      const event = bodies.read(headers, body)
      if (event === 'forged') return 'forged'
      return (event !== 'other' && isObject(event['data']) && legEventOf(event['data'])) || 'other'
    },
  }
}
