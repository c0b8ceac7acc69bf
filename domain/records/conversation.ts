/** A conversation: the messages between a rich-message number and a person. It is computed from its stored messages. */
import type { Tenant } from './organization.ts'
import type { MessageService, MessageStatus } from './states/rmsg-message.ts'

export type MessageDirection = 'inbound' | 'outbound'

export type ShownMessage = {
  /** A UUID. */
  id: string
  direction: MessageDirection
  /** The service that carried the message. Null if it is not known yet. */
  channel: MessageService | null
  /** `received` is the only status of an inbound message. */
  status: MessageStatus | 'received'
  /** Null if the organization did not store texts, if the text was deleted, or if it was empty. */
  text: string | null
  createdAtMs: number
}

export type ConversationMessage = ShownMessage & { tags: Readonly<Record<string, string>>; updatedAtMs: number }

export type Conversation = {
  id: string
  phoneNumberId: string
  /** In E.164 form. Null if the operator has removed the number. */
  phoneNumber: string | null
  /** The organization's agent that answers on the number. Null if no such agent does. */
  agentId: string | null
  /** In E.164 form, or as the provider names the person. */
  remoteNumber: string
  lastMessage: ShownMessage
  /** Counts at most 1,000 messages. */
  messages: number
}

/** The conditions on conversations. If several conditions are given, all must hold. */
export type ConversationFilter = {
  agentId?: string
  phoneNumberId?: string
  /** The person's number in E.164, or `remoteNumber`'s last digits. */
  number?: string
  /** The last message is not older. */
  fromMs?: number
  /** The last message is older. */
  toMs?: number
}

/** The position of a message in a list, newest first. */
export type MessagePosition = { createdAtMs: number; id: string }

export interface ConversationStore {
  /** Lists conversations by their last message, newest first. */
  list(
    tenant: Tenant,
    filter: ConversationFilter,
    limit: number,
    after: MessagePosition | null,
  ): Promise<{ conversations: readonly Conversation[]; next: MessagePosition | null }>
  /** Lists a conversation's messages, newest first. Resolves with null if there is no such conversation. */
  messages(tenant: Tenant, id: string, limit: number, after: MessagePosition | null): Promise<ConversationPage | null>
}

export type ConversationPage = {
  conversation: Conversation
  messages: readonly ConversationMessage[]
  next: MessagePosition | null
}
