/** Makes the store's repositories for rich messages: numbers, messages, events and subscriptions. */
import type { Clock } from '../../domain/ports/system.ts'
import type { ConversationStore } from '../../domain/records/conversation.ts'
import type { MessageStore } from '../../domain/records/rmsg-message.ts'
import type { RmsgEventStore } from '../../domain/rmsg/events.ts'
import type { RmsgInventory } from '../../domain/rmsg/inventory.ts'
import type { RmsgNumberStore } from '../../domain/rmsg/numbers.ts'
import type { SubscriptionStore } from '../../domain/rmsg/subscriptions.ts'
import type { Tenancy, Worlds } from '../postgres/tenant.ts'
import type { Sealer } from '../sealing/sealed.ts'
import { createConversationStore } from './conversations.ts'
import { createRmsgEventStore } from './rmsg-events.ts'
import { createRmsgInventory } from './rmsg-inventory.ts'
import { createMessageStore } from './rmsg-messages.ts'
import { createRmsgNumberStore } from './rmsg-numbers.ts'
import { createSubscriptionStore } from './rmsg-subscriptions.ts'

export type RmsgRecords = {
  rmsgNumbers: RmsgNumberStore
  rmsgInventory: RmsgInventory
  rmsgMessages: MessageStore
  rmsgEvents: RmsgEventStore
  rmsgSubscriptions: SubscriptionStore
  conversations: ConversationStore
}

export function createRmsgRecords(worlds: Worlds & Tenancy, sealer: () => Sealer, clock: Clock): RmsgRecords {
  return {
    rmsgNumbers: createRmsgNumberStore(worlds),
    rmsgInventory: createRmsgInventory(worlds, clock),
    rmsgMessages: createMessageStore(worlds, clock),
    rmsgEvents: createRmsgEventStore(worlds, clock),
    rmsgSubscriptions: createSubscriptionStore(worlds, sealer),
    conversations: createConversationStore(worlds),
  }
}
