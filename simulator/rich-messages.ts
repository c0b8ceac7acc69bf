/**
 * Simulates a rich message provider, at the simulated carrier's URL. The sender chooses a message's id, so a message
 * sent twice is delivered once. The recipient's number decides the outcome. Events are signed like call events.
 */
import { randomUUID } from 'node:crypto'
import { type Fields, loopbackUrl, phoneNumber, text } from './fields.ts'
import type { SimulatorClock } from './media/clock.ts'
import { invalid, missing, notFound, Refusal } from './refusal.ts'
import type { Webhooks } from './webhooks.ts'

type RichMessagesDeps = { clock: SimulatorClock; webhooks: Pick<Webhooks, 'post'> }

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const charactersMax = 18_996
/** The maximum number of remembered messages. Older messages are deleted. */
const messagesMax = 10_000

type Service = 'rmsg' | 'sms' | 'rcs'
type Status = 'accepted' | 'sent' | 'delivered' | 'declined' | 'error' | 'received'

type Step = { afterMs: number; again?: true } & (
  | { type: 'rmsg.sent' | 'rmsg.delivered' | 'rmsg.delivery_failed'; status: Status; service?: Service }
  | { type: 'rmsg.received' }
  | { type: 'rmsg.reaction_received' }
)

type MessagePlan = { refused?: 422 | 503; steps: readonly Step[] }

const sent: Step = { afterMs: 500, type: 'rmsg.sent', status: 'sent' }
const accepted: Step = { afterMs: 500, type: 'rmsg.sent', status: 'accepted' }
const delivered = (service: Service, afterMs = 1000): Step => ({
  afterMs,
  type: 'rmsg.delivered',
  status: 'delivered',
  service,
})
const failed = (status: Status): Step => ({ afterMs: 1000, type: 'rmsg.delivery_failed', status })

const usual: MessagePlan = { steps: [sent, delivered('rmsg')] }
const prefix = '+1500555'
const plans: Readonly<Record<string, MessagePlan>> = {
  '0030': usual,
  '0031': { steps: [accepted, delivered('sms')] },
  '0032': { steps: [accepted, delivered('rcs')] },
  '0033': { steps: [failed('declined')] },
  '0034': { steps: [accepted, failed('error')] },
  '0035': { refused: 422, steps: [] },
  '0036': { refused: 503, steps: [] },
  '0037': {
    steps: [
      { ...delivered('rmsg', 500), again: true },
      { ...sent, afterMs: 1000, again: true },
    ],
  },
  '0038': {
    steps: [
      ...usual.steps,
      { afterMs: 1500, type: 'rmsg.received' },
      { afterMs: 2000, type: 'rmsg.reaction_received' },
    ],
  },
}

/** Returns the plan for a recipient's number. */
export function messagePlanOf(number: string): MessagePlan {
  return (number.startsWith(prefix) ? plans[number.slice(prefix.length)] : undefined) ?? usual
}

type Message = {
  id: string
  conversationId: string
  identityId: string
  to: string
  text: string
  webhookUrl: string
  createdAtMs: number
}

const replyText = 'Thank you, I have got it.'

export class RichMessages {
  readonly #deps: RichMessagesDeps
  readonly #messages = new Map<string, Message>()

  constructor(deps: RichMessagesDeps) {
    this.#deps = deps
  }

  /** Handles POST /rich_messages. */
  send(fields: Fields): object {
    const message = messageIn(fields, this.#deps.clock.nowMs())
    const plan = messagePlanOf(message.to)
    if (plan.refused !== undefined) throw refusedMessage(plan.refused)
    if (!this.#messages.has(message.id)) {
      this.#messages.set(message.id, message)
      const [oldest] = this.#messages.keys()
      if (this.#messages.size > messagesMax && oldest !== undefined) this.#messages.delete(oldest)
      for (const step of plan.steps) this.#emit(message, step)
    }
    return { data: { id: message.id, conversation_id: message.conversationId, status: 'queued' } }
  }

  /** Handles GET /rich_messages/identities/{id}. Every identity exists, unless its name contains the word "lost". */
  retrieveIdentity(id: string): object {
    if (/\blost\b/.test(id)) throw notFound()
    return { data: { identity_id: id } }
  }

  #emit(message: Message, step: Step): void {
    const atMs = message.createdAtMs + step.afterMs
    const body = JSON.stringify({
      id: `evt_${randomUUID().replaceAll('-', '')}`,
      event_type: step.type,
      timestamp: iso(atMs),
      data: {
        message: step.type === 'rmsg.received' ? replyTo(message, atMs) : written(message, step, atMs),
        reaction: step.type === 'rmsg.reaction_received' ? reactionTo(message, atMs) : null,
        contacts: [{ id: message.to, name: null }],
        agent_identities: [{ id: message.identityId, agent_handle: message.identityId, display_name: 'Simulated' }],
      },
    })
    this.#deps.webhooks.post(message.webhookUrl, body, step.afterMs)
    if (step.again) this.#deps.webhooks.post(message.webhookUrl, body, step.afterMs + againMs)
  }
}

const againMs = 100

function messageIn(fields: Fields, nowMs: number): Message {
  const { text: content } = fields
  if (typeof content !== 'string' || content === '') throw missing('text')
  if ([...content].length > charactersMax) throw invalid('text')
  const webhookUrl = loopbackUrl(fields, 'webhook_url', ['http:'])
  if (webhookUrl === null) throw missing('webhook_url')
  return {
    id: idIn(fields, 'id'),
    conversationId: idIn(fields, 'conversation_id'),
    identityId: text(fields, 'identity_id'),
    to: phoneNumber(fields, 'to'),
    text: content,
    webhookUrl,
    createdAtMs: nowMs,
  }
}

function idIn(fields: Fields, name: string): string {
  const id = text(fields, name)
  if (!uuid.test(id)) throw invalid(name)
  return id
}

/** Returns the message as the event after this step contains it. */
function written(message: Message, step: Step, atMs: number): object {
  const [status, service] = 'status' in step ? [step.status, step.service ?? 'rmsg'] : (['delivered', 'rmsg'] as const)
  return {
    ...shared(message, atMs),
    id: message.id,
    direction: 'outbound',
    content: message.text,
    service,
    was_downgraded: service !== 'rmsg',
    status,
    ...failures[status],
    created_at: iso(message.createdAtMs),
  }
}

function replyTo(message: Message, atMs: number): object {
  return {
    ...shared(message, atMs),
    id: randomUUID(),
    direction: 'inbound',
    content: replyText,
    service: 'rmsg',
    was_downgraded: false,
    status: 'received',
    ...noFailure,
    created_at: iso(atMs),
  }
}

const noFailure = { error_code: null, error_message: null, error_reason: null, error_detail: null }
const failures: Readonly<Record<Status, object>> = {
  accepted: noFailure,
  sent: noFailure,
  delivered: noFailure,
  received: noFailure,
  declined: {
    error_code: '4030',
    error_message: 'Message declined',
    error_reason: 'declined',
    error_detail: 'The recipient takes no messages from this sender.',
  },
  error: {
    error_code: '5000',
    error_message: 'Message failed',
    error_reason: 'unreachable',
    error_detail: 'The phone could not be reached.',
  },
}

const shared = ({ conversationId, to }: Message, atMs: number) => ({
  conversation_id: conversationId,
  remote_number: to,
  message_type: 'text',
  media: [],
  updated_at: iso(atMs),
})

const reactionTo = ({ id, conversationId, to }: Message, atMs: number) => ({
  id: randomUUID(),
  conversation_id: conversationId,
  target_message_id: id,
  direction: 'inbound',
  reaction: 'love',
  custom_emoji: null,
  remote_number: to,
  created_at: iso(atMs),
})

const refusedMessage = (status: 422 | 503) =>
  status === 422
    ? new Refusal(422, '40310', 'Message refused', 'The number takes no messages.')
    : new Refusal(503, '10007', 'Unexpected error', 'The service is temporarily unavailable.')
const iso = (ms: number) => new Date(ms).toISOString()
