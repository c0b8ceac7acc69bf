/** The operations on conversations: the messages between the organization's numbers and people. */
import type {
  Conversation,
  ConversationFilter,
  ConversationMessage,
  ConversationStore,
  MessagePosition,
  ShownMessage,
} from '../../domain/records/conversation.ts'
import { type Caller, tenantOf } from '../../domain/records/organization.ts'
import { requireResource } from '../../domain/records/resource-fault.ts'
import type { PlatformHandlers } from '../../generated/platform/handlers.ts'
import type * as Wire from '../../generated/platform/types.ts'
import { type CursorShape, cursorOf, readCursor } from './cursors.ts'
import { millisecondsOf, timeOf } from './times.ts'

type Operations = Pick<PlatformHandlers<Caller>, 'listConversations' | 'listConversationMessages'>
type Query = Parameters<Operations['listConversations']>[0]['query']

/** The cursors' times are in milliseconds. The id is a message's id. */
const cursors: CursorShape = { digitsMax: 13, id: /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/ }

export function conversationOperations(conversations: ConversationStore): Operations {
  return {
    async listConversations({ query }, { caller }) {
      const { limit, cursor } = query
      const page = await conversations.list(tenantOf(caller), filterOf(query), limit, positionOf(cursor))
      return {
        status: 200,
        body: { conversations: page.conversations.map(wireConversation), nextCursor: wireCursor(page.next) },
      }
    },
    async listConversationMessages({ path, query: { limit, cursor } }, { caller }) {
      const page = requireResource(await conversations.messages(tenantOf(caller), path.id, limit, positionOf(cursor)))
      return {
        status: 200,
        body: {
          conversation: wireConversation(page.conversation),
          messages: page.messages.map(wireMessage),
          nextCursor: wireCursor(page.next),
        },
      }
    },
  }
}

function filterOf({ agentId, phoneNumberId, number, since, until }: Query): ConversationFilter {
  return {
    ...(agentId !== undefined && { agentId }),
    ...(phoneNumberId !== undefined && { phoneNumberId }),
    ...(number !== undefined && { number }),
    ...(since !== undefined && { fromMs: millisecondsOf('since', since) }),
    ...(until !== undefined && { toMs: millisecondsOf('until', until) }),
  }
}

function positionOf(cursor: string | undefined): MessagePosition | null {
  if (cursor === undefined) return null
  const { at, id } = readCursor(cursor, cursors)
  return { createdAtMs: at, id }
}

const wireCursor = (next: MessagePosition | null) => next && cursorOf({ at: next.createdAtMs, id: next.id })

function wireConversation({ lastMessage, ...conversation }: Conversation): Wire.Conversation {
  const { id, phoneNumberId, phoneNumber, agentId, remoteNumber, messages } = conversation
  return {
    ...{ id, phoneNumberId, phoneNumber, agentId, remoteNumber },
    lastMessageAt: timeOf(lastMessage.createdAtMs),
    lastMessage: wireShown(lastMessage),
    messages,
  }
}

function wireMessage({ id, tags, updatedAtMs, ...message }: ConversationMessage): Wire.ConversationMessage {
  const times = { createdAt: timeOf(message.createdAtMs), updatedAt: timeOf(updatedAtMs) }
  return { id, ...wireShown(message), tags: { ...tags }, ...times }
}

function wireShown({ direction, channel, status, text }: Omit<ShownMessage, 'id'>) {
  return { direction, channel, status, text }
}
