/** The operations to send rich messages, and to read conversations. */
import type { ConversationStore } from '../../domain/records/conversation.ts'
import { type Caller, tenantOf } from '../../domain/records/organization.ts'
import { ResourceFault } from '../../domain/records/resource-fault.ts'
import type { RmsgMessage } from '../../domain/records/rmsg-message.ts'
import { fallbackApplied, isFinal } from '../../domain/records/states/rmsg-message.ts'
import type { ListRmsgNumbers } from '../../domain/rmsg/list-numbers.ts'
import type { SendMessage } from '../../domain/rmsg/send-message.ts'
import type { PlatformHandlers } from '../../generated/platform/handlers.ts'
import type { SentMessage } from '../../generated/platform/types.ts'
import { conversationOperations } from './conversations.ts'
import { type Repeatable, UnknownEnd } from './repeatable.ts'
import { rmsgNumberOperations } from './rmsg-numbers.ts'

type Handlers = PlatformHandlers<Caller>

export type RmsgMessageDeps = {
  sendFromNumber: SendMessage
  sendAsAgent: SendMessage
  listNumbers: ListRmsgNumbers
  conversations: ConversationStore
}

export function rmsgMessageOperations(
  { sendFromNumber, sendAsAgent, listNumbers, conversations }: RmsgMessageDeps,
  repeatable: Repeatable,
) {
  return {
    ...rmsgNumberOperations(listNumbers),
    ...conversationOperations(conversations),
    sendNumberMessage: repeatable(sendNumberMessage(sendFromNumber)),
    sendAgentMessage: repeatable(sendAgentMessage(sendAsAgent)),
  } satisfies Partial<Handlers>
}

function sendNumberMessage(send: SendMessage): Handlers['sendNumberMessage'] {
  return async ({ path, body: { to, text, tags = {} } }, { caller }) => {
    const answerOf = (message: RmsgMessage) => accepted({ ...wired(message), tags: { ...message.tags } })
    return answered(send(tenantOf(caller), path.phoneNumberId, { to, text, tags }), answerOf)
  }
}

function sendAgentMessage(send: SendMessage): Handlers['sendAgentMessage'] {
  return async ({ path, body: { to, text, tags = {} } }, { caller }) => {
    const answerOf = (message: RmsgMessage) => accepted(wired(message))
    return answered(send(tenantOf(caller), path.agentId, { to, text, tags }), answerOf)
  }
}

function accepted<Body>(body: Body) {
  return { status: 202 as const, body }
}

/**
 * Responds with the sent message. If sending failed but the provider may have received the message, a repeated request
 * gets the message in its last known state.
 */
async function answered<Body extends object>(
  sent: Promise<RmsgMessage>,
  answerOf: (message: RmsgMessage) => { status: 202; body: Body },
): Promise<{ status: 202; body: Body }> {
  try {
    return answerOf(await sent)
  } catch (error) {
    if (error instanceof ResourceFault && error.data.kind === 'message_not_sent' && error.data.mayBeSent)
      throw new UnknownEnd(answerOf(error.data.message), error)
    throw error
  }
}

function wired(message: RmsgMessage): SentMessage {
  return {
    messageId: message.id,
    ...(message.test && { test: true }),
    conversationId: message.conversationId,
    phoneNumberId: message.phoneNumberId,
    to: message.to,
    attemptedChannel: 'rmsg',
    channel: message.channel,
    fallbackApplied: fallbackApplied(message),
    deliveryFinal: isFinal(message),
    status: message.status,
  }
}
