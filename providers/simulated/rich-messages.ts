/** Sends rich messages to the simulated provider. It runs in the same simulator as the simulated carrier. */
import type { RichMessageProvider } from '../../domain/ports/rich-messages.ts'
import type { CancelSignal, Clock } from '../../domain/ports/system.ts'
import { outboundDefaults } from '../../runtime/outbound/limits.ts'
import { createHttpTransport, json, type VendorWire } from '../wire/http.ts'
import { isObject } from '../wire/json.ts'
import { emptyIfUnknown, toMessageError } from '../wire/rich-message-failure.ts'

export type SimulatedMessageOptions = {
  /** The API's base URL with the version, without a slash at the end. */
  baseUrl: string
  apiKey: string
  /** Returns our webhook URL for the provider's events. */
  webhookUrl: () => string
  /** The time limit for a request. */
  requestMs: number
  clock: Clock
}

const never: CancelSignal = { aborted: false, reason: null, addEventListener() {}, removeEventListener() {} }
const answerBytesMax = 64 * 1024

const wire: VendorWire = {
  sign: (apiKey) => ['authorization', `Bearer ${apiKey}`],
  classify: () => null,
}

export function createSimulatedMessages(
  options: SimulatedMessageOptions,
): RichMessageProvider & { close(): Promise<void> } {
  const { baseUrl, apiKey, webhookUrl, requestMs, clock } = options
  const timeouts = { connectMs: requestMs, firstByteMs: requestMs, idleMs: requestMs, totalMs: requestMs }
  const limits = { ...outboundDefaults, ...timeouts, answerBytesMax }
  const transport = createHttpTransport({ baseUrl, wire, limits, clock })
  const http = transport.signedWith(apiKey)
  return {
    async send({ id, conversationId, providerIdentity, to, text }) {
      const body = {
        id,
        conversation_id: conversationId,
        identity_id: providerIdentity,
        to,
        text,
        webhook_url: webhookUrl(),
      }
      await http.post('/rich_messages', json(body), never).catch(toMessageError)
    },
    async has(providerIdentity) {
      const { data } = await http
        .get(`/rich_messages/identities/${encodeURIComponent(providerIdentity)}`, never)
        .catch(emptyIfUnknown)
      return isObject(data)
    },
    close: () => transport.close(),
  }
}
