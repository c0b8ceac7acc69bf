/** Converts Telnyx' message events into the common form for all providers. */
import type { NumberOfEvent, RichMessageEvent, RichMessageWebhooks } from '../../domain/ports/rich-messages.ts'
import type { Clock } from '../../domain/ports/system.ts'
import type { MessageService, MessageStatus } from '../../domain/records/states/rmsg-message.ts'
import { createSignedBodies } from '../wire/ed25519-webhooks.ts'
import { eventTimeMs } from '../wire/event-time.ts'
import { isObject, type JsonObject, objectsOf, stringOf } from '../wire/json.ts'

/** `publicKey` is 32 bytes in base64. */
export function createTelnyxMessageWebhooks(options: { publicKey: string; clock: Clock }): RichMessageWebhooks {
  const bodies = createSignedBodies(options)
  return {
    read(headers, body, message) {
      const event = bodies.read(headers, body)
      if (event === 'forged') return 'forged'
      return (event !== 'other' && isObject(event['data']) && eventOf(event['data'], message)) || 'other'
    },
  }
}

const idForm = /^[0-9A-Za-z-]{1,60}$/

type Read = {
  id: string
  type: RichMessageEvent['type']
  occurredAt: string
  payload: JsonObject
  status: MessageStatus | 'received'
  /** The carrier's name for the message's state. */
  reason: string
  service: MessageService
  messageId: string
  remoteNumber: string
}

function eventOf(
  { id, event_type, occurred_at, payload }: JsonObject,
  message: string | null,
): RichMessageEvent | null {
  const occurredAtMs = eventTimeMs(occurred_at)
  if (typeof id !== 'string' || !idForm.test(id) || !isObject(payload) || occurredAtMs === null) return null
  const from = isObject(payload['from']) ? payload['from'] : {}
  const to = objectsOf(payload['to'])[0] ?? {}
  const isReceived = event_type === 'message.received'
  if (!isReceived && event_type !== 'message.sent' && event_type !== 'message.finalized') return null
  const reason = stringOf(to['status'])
  const outcome = isReceived ? received : outcomes[reason]
  const [ours, theirs] = isReceived ? [to, from] : [from, to]
  // An SMS event contains our number, and an RCS event contains our RCS agent's id.
  const providerIdentity = stringOf(ours['agent_id']) || stringOf(ours['phone_number'])
  const remoteNumber = stringOf(theirs['phone_number'])
  const messageId = (isReceived ? null : message) ?? stringOf(payload['id'])
  if (outcome === undefined || providerIdentity === '' || remoteNumber === '') return null
  const service = payload['type'] === 'RCS' ? 'rmsg' : 'sms'
  const { type, status } = outcome
  const occurredAt = new Date(occurredAtMs).toISOString()
  const read = { id: `evt_${id}`, type, occurredAt, payload, status, reason, service, messageId, remoteNumber } as const
  return {
    id: read.id,
    type,
    occurredAtMs,
    providerIdentity,
    conversationId: null,
    remoteNumber,
    messageId,
    report: status === 'received' ? null : { status, service },
    receivedOver: status === 'received' ? service : null,
    text: status === 'received' ? textIn(payload) : null,
    bytesFor: (number) => Buffer.from(JSON.stringify(written(read, number))),
  }
}

type Outcome = Pick<Read, 'type' | 'status'>

const received: Outcome = { type: 'rmsg.received', status: 'received' }

/** Our event for each recipient state. Events with another state are ignored. */
const outcomes: Readonly<Partial<Record<string, Outcome>>> = {
  sent: { type: 'rmsg.sent', status: 'sent' },
  delivered: { type: 'rmsg.delivered', status: 'delivered' },
  read: { type: 'rmsg.delivered', status: 'delivered' },
  // The network has accepted the message and will not report its delivery.
  delivery_unconfirmed: { type: 'rmsg.sent', status: 'sent' },
  sending_failed: { type: 'rmsg.delivery_failed', status: 'declined' },
  delivery_failed: { type: 'rmsg.delivery_failed', status: 'error' },
  expired: { type: 'rmsg.delivery_failed', status: 'error' },
}

function written(read: Read, { conversationId, providerIdentity }: NumberOfEvent): object {
  const { id, type, occurredAt, payload, status, service, messageId, remoteNumber } = read
  const createdAtMs = Date.parse(stringOf(payload['received_at']))
  return {
    id,
    event_type: type,
    timestamp: occurredAt,
    data: {
      message: {
        id: messageId,
        conversation_id: conversationId,
        direction: status === 'received' ? 'inbound' : 'outbound',
        remote_number: remoteNumber,
        content: textIn(payload),
        message_type: 'text',
        service,
        media: objectsOf(payload['media']).map(({ url, content_type }) => ({
          url: stringOf(url),
          content_type: stringOf(content_type) || null,
        })),
        was_downgraded: status !== 'received' && service !== 'rmsg',
        status,
        ...failureIn(read),
        created_at: Number.isNaN(createdAtMs) ? occurredAt : new Date(createdAtMs).toISOString(),
        updated_at: occurredAt,
      },
      reaction: null,
      contacts: [{ id: remoteNumber, name: null }],
      agent_identities: [{ id: providerIdentity, agent_handle: providerIdentity, display_name: null }],
    },
  }
}

/** Returns the message's text. In an SMS event the text is at the top level, in an RCS event in the body. */
function textIn({ text, body }: JsonObject): string | null {
  const content = isObject(body) && isObject(body['content_message']) ? body['content_message'] : body
  return stringOf(text) || (isObject(content) ? stringOf(content['text']) : '') || null
}

function failureIn({ type, payload, reason }: Read): object {
  const isFailed = type === 'rmsg.delivery_failed'
  const first = isFailed ? objectsOf(payload['errors'])[0] : undefined
  return {
    error_code: stringOf(first?.['code']) || null,
    error_message: stringOf(first?.['title']) || null,
    error_reason: isFailed ? reason : null,
    error_detail: stringOf(first?.['detail']) || null,
  }
}
