/** Rich messages of this process: the provider that sends them, and the reader of its events. */
import type { Tenant } from './domain/access/organization.ts'
import type { RichMessageProvider, RichMessageWebhooks } from './domain/ports/rich-messages.ts'
import { createReceiveEvent, type ReceiveEvent } from './domain/rmsg/events.ts'
import { createListRmsgNumbers, type ListRmsgNumbers } from './domain/rmsg/list-numbers.ts'
import { createRmsgNumbers } from './domain/rmsg/numbers.ts'
import { createSendAsAgent, createSendFromNumber, type SendMessage } from './domain/rmsg/send-message.ts'
import type { ParleyConfig } from './generated/config/types.ts'
import { createSimulatedMessageWebhooks } from './providers/simulated/rich-message-webhooks.ts'
import { createSimulatedMessages } from './providers/simulated/rich-messages.ts'
import { createTelnyxMessageWebhooks } from './providers/telnyx/rich-message-webhooks.ts'
import { createTelnyxMessages } from './providers/telnyx/rich-messages.ts'
import { createWebhookClient } from './providers/wire/webhook-client.ts'
import { systemClock, systemIds } from './runtime/clock.ts'
import { createDeadlines } from './runtime/outbound/deadlines.ts'
import { isPhoneNumber } from './runtime/phone-number.ts'
import type { Tracing } from './runtime/tracing.ts'
import { type SimulatedCarrier, simulatorSeed } from './simulated-carrier.ts'
import { publicKeyOf } from './simulator/webhooks.ts'
import type { Store } from './store/store.ts'

export type MessageParts = {
  config: ParleyConfig
  masterKey: string
  store: Pick<Store, 'agents' | 'rmsgNumbers' | 'rmsgMessages' | 'rmsgEvents' | 'rmsgSubscriptions' | 'webhookSecrets'>
  simulator: SimulatedCarrier
  /** The address of this server for the simulator. */
  localUrl: () => string
  /** Null: no spans are wanted. */
  tracing: Tracing | null
}

export type OpenMessages = {
  sendFromNumber: SendMessage
  sendAsAgent: SendMessage
  listNumbers: ListRmsgNumbers
  readers: ReadonlyMap<string, RichMessageWebhooks>
  receive: ReceiveEvent
  close(): Promise<void>
}

type Provider = RichMessageProvider & { close(): Promise<void> }

export function openRichMessages(parts: MessageParts): OpenMessages {
  const { config, masterKey, store, simulator, localUrl, tracing } = parts
  const clock = systemClock
  const { adapter, telnyx } = config.carrier
  const webhookUrl = () => `${localUrl()}/carrier/simulator/messages`
  const providers = openMessageProviders(config, simulator, webhookUrl)
  const { allowedSubnets } = config.outbound
  const client = createWebhookClient({ guard: { allowedSubnets }, monotonicMs: () => clock.monotonicMs() })
  const publicKey = publicKeyOf(simulatorSeed(masterKey))
  const readers = new Map([['simulator', createSimulatedMessageWebhooks({ publicKey, clock })]])
  if (adapter === 'telnyx' && telnyx.publicKey !== null)
    readers.set('carrier', createTelnyxMessageWebhooks({ publicKey: telnyx.publicKey, clock }))
  const shared = {
    messages: store.rmsgMessages,
    providerOf: providers.of,
    clock,
    messageId: systemIds.session,
    isPhoneNumber,
  }
  return {
    sendFromNumber: createSendFromNumber({ ...shared, numbers: createRmsgNumbers(store.rmsgNumbers) }),
    sendAsAgent: createSendAsAgent({ ...shared, numbers: store.rmsgNumbers, agents: store.agents }),
    listNumbers: createListRmsgNumbers(store.rmsgNumbers, (tenant) => providers.of(tenant) !== null),
    readers,
    receive: createReceiveEvent({
      client,
      clock,
      deadline: createDeadlines(clock),
      attemptId: systemIds.session,
      traces: tracing,
      events: store.rmsgEvents,
      subscriptions: store.rmsgSubscriptions,
      secrets: store.webhookSecrets,
      headerWord: config.headerPrefix.toLowerCase(),
    }),
    close: async () => void (await Promise.all([providers.close(), client.close()])),
  }
}

export type MessageProviders = {
  /** Null: messages cannot be sent in the world of the tenant. */
  of: (tenant: Pick<Tenant, 'test'>) => RichMessageProvider | null
  close(): Promise<void>
}

export function openMessageProviders(
  config: ParleyConfig,
  simulator: SimulatedCarrier,
  webhookUrl: () => string,
): MessageProviders {
  const { adapter, requestMs } = config.carrier
  const simulated = lazyProvider(async () => {
    const { baseUrl, apiKey } = await simulator.open()
    return createSimulatedMessages({ baseUrl, apiKey, webhookUrl, requestMs, clock: systemClock })
  })
  const real = openTelnyx(config)
  const live = adapter === 'simulator' ? simulated : real
  return {
    of: ({ test }) => (test ? simulated : live),
    close: async () => void (await Promise.all([simulated.close(), real?.close()])),
  }
}

/** Null: live keys send no messages. */
function openTelnyx({ carrier, publicUrl }: ParleyConfig): Provider | null {
  const { adapter, requestMs, telnyx } = carrier
  const { apiKey, baseUrl, messagingProfileId } = telnyx
  if (adapter !== 'telnyx' || apiKey === null || messagingProfileId === null || publicUrl === null) return null
  const webhookUrl = `${publicUrl.replace(/\/+$/, '')}/carrier/carrier/messages`
  return createTelnyxMessages({ baseUrl, apiKey, messagingProfileId, webhookUrl, requestMs, clock: systemClock })
}

/** The simulated carrier starts with the first message. */
function lazyProvider(open: () => Promise<Provider>): Provider {
  let opened: Promise<Provider> | null = null
  const provider = () => {
    opened ??= open()
    opened.catch(() => {
      opened = null
    })
    return opened
  }
  return {
    send: async (message) => (await provider()).send(message),
    has: async (providerIdentity) => (await provider()).has(providerIdentity),
    close: async () => void (await (await opened)?.close()),
  }
}
