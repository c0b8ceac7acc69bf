/** Sends a rich message: all that can be refused is refused before the provider is asked, and its answer is waited for. */
import type { Tenant } from '../access/organization.ts'
import { RichMessageError, type RichMessageProvider } from '../ports/rich-messages.ts'
import type { Clock } from '../ports/system.ts'
import { ResourceFault, refuseIssues } from '../resource-fault.ts'
import { conversationIdOf, type MessageReport, type MessageStore, type RmsgMessage } from './message.ts'
import type { RmsgNumber, RmsgNumbers } from './numbers.ts'

export type SendMessageDeps = {
  numbers: Pick<RmsgNumbers, 'use' | 'canSend'>
  messages: MessageStore
  /** Null: messages cannot be sent in the world of the tenant. */
  providerOf(tenant: Tenant): RichMessageProvider | null
  clock: Pick<Clock, 'nowMs'>
  /** UUID. */
  messageId(): string
  /** Whether a text in E.164 can be the number of a phone. */
  isPhoneNumber(text: string): boolean
  /** The operator serves the send from a number, which was removed. */
  keepsRemoved: boolean
}

export type WantedMessage = {
  phoneNumberId: string
  /** E.164. */
  to: string
  text: string
  tags: Readonly<Record<string, string>>
}

/** Throws ResourceFault: `message_not_sent` where the provider does not take the message. */
export type SendMessage = (tenant: Tenant, wanted: WantedMessage) => Promise<RmsgMessage>

export function createSendFromNumber(deps: SendMessageDeps): SendMessage {
  return async (tenant, { phoneNumberId, to, text, tags }) => {
    const canSend = await deps.numbers.canSend(tenant)
    if (!deps.keepsRemoved) throw new ResourceFault({ kind: 'endpoint_removed' })
    if (!deps.isPhoneNumber(to)) refuseIssues([{ path: ['to'], problem: { kind: 'number_invalid' } }])
    const number = await deps.numbers.use(tenant, phoneNumberId)
    const provider = canSend ? deps.providerOf(tenant) : null
    if (provider === null) throw new ResourceFault({ kind: 'rmsg_backend_unsupported' })
    return send(deps, { ...tenant, number, provider, to, text, tags })
  }
}

type Sending = Tenant & Omit<WantedMessage, 'phoneNumberId'> & { number: RmsgNumber; provider: RichMessageProvider }

async function send(deps: SendMessageDeps, sending: Sending): Promise<RmsgMessage> {
  const { organizationId, test, number, provider, to, text, tags } = sending
  const message: RmsgMessage = {
    organizationId,
    test,
    id: deps.messageId(),
    phoneNumberId: number.id,
    conversationId: conversationIdOf(number.id, to),
    to,
    tags,
    status: 'pending',
    channel: null,
    createdAtMs: deps.clock.nowMs(),
  }
  await deps.messages.insert(message)
  const { id, conversationId } = message
  const { providerIdentity } = number
  try {
    await provider.send({ id, conversationId, providerIdentity, to, text })
  } catch (error) {
    if (!(error instanceof RichMessageError)) throw error
    const { status, detail, mayBeSent, cause } = error
    // Events say what became of a message whose answer is lost.
    if (!mayBeSent) await reported(deps, message, { status: 'error', service: 'rmsg' })
    throw new ResourceFault({ kind: 'message_not_sent', message, status, detail, mayBeSent }, { cause })
  }
  return reported(deps, message, { status: 'queued', service: 'rmsg' })
}

/** An event of the provider may have been here before its answer. */
async function reported(
  { messages }: SendMessageDeps,
  message: RmsgMessage,
  report: MessageReport,
): Promise<RmsgMessage> {
  return (await messages.report(message.id, report)) ?? message
}
