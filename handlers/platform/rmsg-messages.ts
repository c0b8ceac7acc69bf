/** Rich messages that an organization sends. */
import { type Caller, tenantOf } from '../../domain/access/organization.ts'
import { ResourceFault } from '../../domain/resource-fault.ts'
import type { RmsgMessage } from '../../domain/rmsg/message.ts'
import { fallbackApplied, isFinal } from '../../domain/rmsg/message-states.ts'
import type { SendMessage } from '../../domain/rmsg/send-message.ts'
import type { PlatformHandlers } from '../../generated/platform/handlers.ts'
import type { SentNumberMessage } from '../../generated/platform/types.ts'
import { type Repeatable, UnknownEnd } from './repeatable.ts'

type Handlers = PlatformHandlers<Caller>

export type RmsgMessageDeps = { sendFromNumber: SendMessage }

export function rmsgMessageOperations({ sendFromNumber }: RmsgMessageDeps, repeatable: Repeatable) {
  return { sendNumberMessage: repeatable(sendNumberMessage(sendFromNumber)) } satisfies Partial<Handlers>
}

function sendNumberMessage(send: SendMessage): Handlers['sendNumberMessage'] {
  return async ({ path, body: { to, text, tags = {} } }, { caller }) => {
    const message = await send(tenantOf(caller), { ...path, to, text, tags }).catch(rejectUnknownEnd)
    return answerOf(message)
  }
}

function answerOf(message: RmsgMessage) {
  return { status: 202 as const, body: wired(message) }
}

/** A message that the provider may have got is answered to a repeat as it was left. */
function rejectUnknownEnd(error: unknown): never {
  const isUnknown = error instanceof ResourceFault && error.data.kind === 'message_not_sent' && error.data.mayBeSent
  throw isUnknown ? new UnknownEnd(answerOf(error.data.message), error) : error
}

function wired(message: RmsgMessage): SentNumberMessage {
  return {
    messageId: message.id,
    ...(message.test && { test: true as const }),
    conversationId: message.conversationId,
    phoneNumberId: message.phoneNumberId,
    to: message.to,
    attemptedChannel: 'rmsg',
    channel: message.channel,
    fallbackApplied: fallbackApplied(message),
    deliveryFinal: isFinal(message),
    status: message.status,
    tags: { ...message.tags },
  }
}
