/** Reads the simulated rich message provider's events. They need no conversion. */
import { type RichMessageEvent, type RichMessageWebhooks, richEventTypes } from '../../domain/ports/rich-messages.ts'
import type { Clock } from '../../domain/ports/system.ts'
import { type MessageService, messageServices, messageStatuses } from '../../domain/records/states/rmsg-message.ts'
import { createSignedBodies } from '../wire/ed25519-webhooks.ts'
import { eventTimeMs } from '../wire/event-time.ts'
import { isObject, type JsonObject, objectsOf, stringOf } from '../wire/json.ts'

/** `publicKey` is 32 bytes in base64. */
export function createSimulatedMessageWebhooks(options: { publicKey: string; clock: Clock }): RichMessageWebhooks {
  const bodies = createSignedBodies(options)
  return {
    read(headers, body) {
      const event = bodies.read(headers, body)
      return typeof event === 'string' ? event : (eventOf(event, body) ?? 'other')
    },
  }
}

const idForm = /^evt_[0-9A-Za-z_-]{1,64}$/

function eventOf(event: JsonObject, body: Uint8Array): RichMessageEvent | null {
  const { id, event_type, timestamp, data } = event
  const type = richEventTypes.find((each) => each === event_type)
  const message = isObject(data) ? data['message'] : null
  if (type === undefined || typeof id !== 'string' || !idForm.test(id)) return null
  if (!isObject(data) || !isObject(message)) return null
  const occurredAtMs = eventTimeMs(timestamp)
  const providerIdentity = stringOf(objectsOf(data['agent_identities'])[0]?.['id'])
  if (occurredAtMs === null || providerIdentity === '') return null
  const [messageId, conversationId] = [stringOf(message['id']), stringOf(message['conversation_id'])]
  const remoteNumber = stringOf(message['remote_number'])
  const report = reportIn(type, message)
  const isReceived = type === 'rmsg.received'
  const receivedOver = isReceived ? serviceOf(message) : null
  const text = isReceived ? stringOf(message['content']) || null : null
  const bytesFor = () => body
  const numbers = { providerIdentity, conversationId, remoteNumber }
  return { id, type, occurredAtMs, ...numbers, messageId, report, receivedOver, text, bytesFor }
}

function reportIn(type: RichMessageEvent['type'], message: JsonObject): RichMessageEvent['report'] {
  if (type === 'rmsg.received' || type === 'rmsg.reaction_received') return null
  const status = messageStatuses.find((each) => each === message['status'])
  const service = serviceOf(message)
  return status === undefined || service === null ? null : { status, service }
}

function serviceOf(message: JsonObject): MessageService | null {
  return messageServices.find((each) => each === message['service']) ?? null
}
