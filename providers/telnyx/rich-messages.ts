/** Sends rich messages as RCS at Telnyx, with an SMS instead if the phone does not support RCS. */
import type { RichMessageProvider } from '../../domain/ports/rich-messages.ts'
import type { CancelSignal, Clock } from '../../domain/ports/system.ts'
import { createHttpTransport, json } from '../wire/http.ts'
import { isObject } from '../wire/json.ts'
import { emptyIfUnknown, toMessageError } from '../wire/rich-message-failure.ts'
import { telnyxLimits, telnyxWire } from './wire.ts'

export type TelnyxMessageOptions = {
  /** The API's base URL with the version, without a slash at the end. */
  baseUrl: string
  apiKey: string
  /** The messaging profile. The RCS agents and the numbers must belong to it. */
  messagingProfileId: string
  /** Our webhook URL for Telnyx' events. */
  webhookUrl: string
  /** The time limit for a request. */
  requestMs: number
  clock: Clock
}

const never: CancelSignal = { aborted: false, reason: null, addEventListener() {}, removeEventListener() {} }

export function createTelnyxMessages(options: TelnyxMessageOptions): RichMessageProvider & { close(): Promise<void> } {
  const { baseUrl, apiKey, messagingProfileId, webhookUrl, requestMs, clock } = options
  const limits = { ...telnyxLimits(requestMs), firstByteMs: requestMs, idleMs: requestMs, totalMs: requestMs }
  const transport = createHttpTransport({
    baseUrl,
    wire: telnyxWire,
    limits,
    clock,
  })
  const http = transport.signedWith(apiKey)
  return {
    async send({ id, providerIdentity, smsFrom, to, text }) {
      const body = {
        type: 'RCS',
        agent_id: providerIdentity,
        messaging_profile_id: messagingProfileId,
        to,
        agent_message: { content_message: { text } },
        // Telnyx' events contain only Telnyx' message id, so the webhook URL contains our id.
        webhook_url: `${webhookUrl}?message=${id}`,
        ...(smsFrom !== null && { sms_fallback: { from: smsFrom, text } }),
      }
      await http.post('/messages/rcs', json(body), never).catch(toMessageError)
    },
    async has(providerIdentity) {
      const { data } = await http
        .get(`/messaging/rcs/agents/${encodeURIComponent(providerIdentity)}`, never)
        .catch(emptyIfUnknown)
      return isObject(data) && data['enabled'] === true
    },
    close: () => transport.close(),
  }
}
