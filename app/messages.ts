/**
 * Rich messages in this process: the provider to send messages with, and the reader for the provider's webhook events.
 */
import type { RichMessageProvider, RichMessageWebhooks } from '../domain/ports/rich-messages.ts'
import type { ConversationStore } from '../domain/records/conversation.ts'
import type { Tenant } from '../domain/records/organization.ts'
import { createReceiveEvent, type ReceiveEvent } from '../domain/rmsg/events.ts'
import { createListRmsgNumbers, type ListRmsgNumbers } from '../domain/rmsg/list-numbers.ts'
import { createRmsgNumbers } from '../domain/rmsg/numbers.ts'
import { createSendAsAgent, createSendFromNumber, type SendMessage } from '../domain/rmsg/send-message.ts'
import { createSimulatedMessageWebhooks } from '../providers/simulated/rich-message-webhooks.ts'
import { createSimulatedMessages } from '../providers/simulated/rich-messages.ts'
import { createTelnyxMessageWebhooks } from '../providers/telnyx/rich-message-webhooks.ts'
import { createTelnyxMessages } from '../providers/telnyx/rich-messages.ts'
import { createWebhookClient } from '../providers/wire/webhook-client.ts'
import { createDeadlines } from '../runtime/outbound/deadlines.ts'
import { isPhoneNumber } from '../runtime/values/phone-number.ts'
import { publicKeyOf } from '../simulator/webhooks.ts'
import type { App } from './app.ts'
import { clientsOf } from './clients.ts'
import { lazily } from './lazily.ts'
import { type SimulatedCarrier, simulatorSeed } from './simulator.ts'

export type Messages = {
  sendFromNumber: SendMessage
  sendAsAgent: SendMessage
  listNumbers: ListRmsgNumbers
  conversations: ConversationStore
  readers: ReadonlyMap<string, RichMessageWebhooks>
  receive: ReceiveEvent
}

type Provider = RichMessageProvider & { close(): Promise<void> }

export function openMessages(app: App, simulator: SimulatedCarrier): Messages {
  const { store, clock, ids, localUrl } = app
  const webhookUrl = () => `${localUrl().replace(/\/+$/, '')}/carrier/simulator/messages`
  const providers = openMessageProviders(app, simulator, webhookUrl)
  app.closing(() => providers.close())
  const shared = {
    messages: store.rmsgMessages,
    providerOf: providers.of,
    clock,
    messageId: ids.session,
    isPhoneNumber,
  }
  return {
    sendFromNumber: createSendFromNumber({ ...shared, numbers: createRmsgNumbers(store.rmsgNumbers) }),
    sendAsAgent: createSendAsAgent({ ...shared, numbers: store.rmsgNumbers, agents: store.agents }),
    listNumbers: createListRmsgNumbers(store.rmsgNumbers, (tenant) => providers.of(tenant) !== null),
    conversations: store.conversations,
    readers: readersOf(app),
    receive: createReceive(app),
  }
}

function readersOf({ config, clock, secrets }: App): ReadonlyMap<string, RichMessageWebhooks> {
  const { adapter, telnyx } = config.carrier
  const publicKey = publicKeyOf(simulatorSeed(secrets.masterKey))
  const readers = new Map([['simulator', createSimulatedMessageWebhooks({ publicKey, clock })]])
  if (adapter === 'telnyx' && telnyx.publicKey !== null)
    readers.set('carrier', createTelnyxMessageWebhooks({ publicKey: telnyx.publicKey, clock }))
  return readers
}

function createReceive(app: App): ReceiveEvent {
  const { config, store, clock, ids, tracing } = app
  const { allowedSubnets } = config.outbound
  const client = createWebhookClient({ guard: { allowedSubnets }, clock })
  app.closing(() => client.close())
  return createReceiveEvent({
    client,
    clock,
    deadline: createDeadlines(clock),
    attemptId: ids.session,
    traces: tracing,
    events: store.rmsgEvents,
    subscriptions: store.rmsgSubscriptions,
    secrets: store.webhookSecrets,
    headerWord: clientsOf(config).headerPrefix.toLowerCase(),
  })
}

export type MessageProviders = {
  /** Returns the provider for the tenant's live or test messages. Null if such messages cannot be sent. */
  of: (tenant: Pick<Tenant, 'test'>) => RichMessageProvider | null
  close(): Promise<void>
}

const commands = ['send', 'has'] as const

export function openMessageProviders(
  app: Pick<App, 'config' | 'clock'>,
  simulator: Pick<SimulatedCarrier, 'open'>,
  webhookUrl: () => string,
): MessageProviders {
  const { config, clock } = app
  const { adapter, requestMs } = config.carrier
  const simulated = lazily<Provider, (typeof commands)[number]>(commands, async () => {
    const { baseUrl, apiKey } = await simulator.open()
    return createSimulatedMessages({ baseUrl, apiKey, webhookUrl, requestMs, clock })
  })
  const real = openTelnyx(app)
  const live = adapter === 'simulator' ? simulated : real
  return {
    of: ({ test }) => (test ? simulated : live),
    close: async () => void (await Promise.all([simulated.close(), real?.close()])),
  }
}

/** Opens Telnyx for messages with live API keys (not test keys). Null if the configuration has no Telnyx messaging. */
function openTelnyx({ config, clock }: Pick<App, 'config' | 'clock'>): Provider | null {
  const { carrier, publicUrl } = config
  const { adapter, requestMs, telnyx } = carrier
  const { apiKey, baseUrl, messagingProfileId } = telnyx
  if (adapter !== 'telnyx' || apiKey === null || messagingProfileId === null || publicUrl === null) return null
  const webhookUrl = `${publicUrl.replace(/\/+$/, '')}/carrier/carrier/messages`
  return createTelnyxMessages({ baseUrl, apiKey, messagingProfileId, webhookUrl, requestMs, clock })
}
