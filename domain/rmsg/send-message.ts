/**
 * Sends a rich message and waits for the provider's answer. All checks happen before the message is sent to the
 * provider.
 */
import { RichMessageError, type RichMessageProvider } from '../ports/rich-messages.ts'
import type { Clock } from '../ports/system.ts'
import type { AgentStore } from '../records/agent.ts'
import { Fault } from '../records/fault.ts'
import type { Tenant } from '../records/organization.ts'
import { ResourceFault, refuseIssues } from '../records/resource-fault.ts'
import { conversationIdOf, type MessageReport, type MessageStore, type RmsgMessage } from '../records/rmsg-message.ts'
import { isDedicated, type RmsgNumber, type RmsgNumberStore, type RmsgNumbers } from './numbers.ts'

export type SendMessageDeps = {
  numbers: Pick<RmsgNumbers, 'use' | 'canSend'>
  messages: MessageStore
  /** Returns null if the tenant's messages cannot be sent: live and test messages have separate providers. */
  providerOf(tenant: Tenant): RichMessageProvider | null
  clock: Pick<Clock, 'nowMs'>
  /** A UUID. */
  messageId(): string
  /** Returns true if an E.164 text can be a phone's number. */
  isPhoneNumber(text: string): boolean
}

type MessageRequest = {
  /** A phone number in E.164 form. */
  to: string
  text: string
  tags: Readonly<Record<string, string>>
}

/**
 * `id` is the id of the sending number or agent. Throws ResourceFault. It is `message_not_sent` if the provider refuses
 * the message.
 */
export type SendMessage = (tenant: Tenant, id: string, request: MessageRequest) => Promise<RmsgMessage>

export function createSendFromNumber(deps: SendMessageDeps): SendMessage {
  return async (tenant, id, request) => {
    const canSend = await deps.numbers.canSend(tenant)
    requirePhoneNumber(deps, request)
    const number = await deps.numbers.use(tenant, id)
    return send(deps, { ...tenant, ...request, number, provider: providerFor(deps, tenant, canSend) })
  }
}

export type SendAsAgentDeps = Omit<SendMessageDeps, 'numbers'> & {
  numbers: Pick<RmsgNumberStore, 'access' | 'find'>
  agents: Pick<AgentStore, 'find'>
}

export function createSendAsAgent(deps: SendAsAgentDeps): SendMessage {
  return async (tenant, id, request) => {
    const access = await deps.numbers.access(tenant)
    requirePhoneNumber(deps, request)
    const agent = await deps.agents.find(tenant, id)
    if (agent === null) throw new ResourceFault({ kind: 'rmsg_agent_unknown' })
    const { rmsg } = agent.settings
    if (rmsg?.enabled !== true) throw new ResourceFault({ kind: 'rmsg_off_for_agent' })
    const number =
      isDedicated(rmsg) && rmsg.phoneNumberId ? await deps.numbers.find(tenant.test, rmsg.phoneNumberId) : null
    if (number?.status !== 'active') throw new ResourceFault({ kind: 'dedicated_number_required' })
    const provider = providerFor(deps, tenant, access?.backend === 'default')
    return send(deps, { ...tenant, ...request, number, provider })
  }
}

function requirePhoneNumber({ isPhoneNumber }: Pick<SendMessageDeps, 'isPhoneNumber'>, { to }: MessageRequest): void {
  if (!isPhoneNumber(to)) refuseIssues([{ path: ['to'], problem: { kind: 'number_invalid' } }])
}

function providerFor(
  { providerOf }: Pick<SendMessageDeps, 'providerOf'>,
  tenant: Tenant,
  canSend: boolean,
): RichMessageProvider {
  const provider = canSend ? providerOf(tenant) : null
  if (provider === null) throw new ResourceFault({ kind: 'rmsg_backend_unsupported' })
  return provider
}

type Sending = Tenant & MessageRequest & { number: RmsgNumber; provider: RichMessageProvider }

type SendDeps = Pick<SendMessageDeps, 'messages' | 'clock' | 'messageId'>

async function send(deps: SendDeps, sending: Sending): Promise<RmsgMessage> {
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
  await deps.messages.insert(message, text)
  const { id, conversationId } = message
  const { providerIdentity, smsStatus, e164 } = number
  const smsFrom = smsStatus === 'ready' ? e164 : null
  try {
    await provider.send({ id, conversationId, providerIdentity, to, text, smsFrom })
  } catch (error) {
    if (!(error instanceof RichMessageError)) throw error
    const { status, detail, mayBeSent, cause } = error
    // If the message may have been sent, its status remains open, because later events report the result.
    if (!mayBeSent) await reported(deps, message, { status: 'error', service: 'rmsg' })
    throw new ResourceFault({ kind: 'message_not_sent', message, status, detail, mayBeSent }, { cause })
  }
  try {
    return await reported(deps, message, { status: 'queued', service: 'rmsg' })
  } catch (error) {
    // The provider has the message, and an error would let the client send it again. The status stays open, because
    // later events report the result.
    if (error instanceof Fault) return message
    throw error
  }
}

/**
 * Stores a report. A provider's event may have arrived before the provider's answer, so the status may already be
 * later.
 */
async function reported({ messages }: SendDeps, message: RmsgMessage, report: MessageReport): Promise<RmsgMessage> {
  return (await messages.report(message.id, report)) ?? message
}
