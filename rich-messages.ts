/** Rich messages of this process: the provider that sends them, and the reader of its events. */
import type { Tenant } from './domain/access/organization.ts'
import type { RichMessageProvider, RichMessageWebhooks } from './domain/ports/rich-messages.ts'
import { createReceiveEvent, type ReceiveEvent } from './domain/rmsg/events.ts'
import { createRmsgNumbers } from './domain/rmsg/numbers.ts'
import { createSendAsAgent, createSendFromNumber, type SendMessage } from './domain/rmsg/send-message.ts'
import type { ParleyConfig } from './generated/config/types.ts'
import { createSimulatedMessageWebhooks } from './providers/simulated/rich-message-webhooks.ts'
import { createSimulatedMessages } from './providers/simulated/rich-messages.ts'
import { createWebhookClient } from './providers/wire/webhook-client.ts'
import { systemClock, systemIds } from './runtime/clock.ts'
import { createDeadlines } from './runtime/outbound/deadlines.ts'
import { isPhoneNumber } from './runtime/phone-number.ts'
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
}

export type OpenMessages = {
  sendFromNumber: SendMessage
  sendAsAgent: SendMessage
  readers: ReadonlyMap<string, RichMessageWebhooks>
  receive: ReceiveEvent
  close(): Promise<void>
}

type Provider = RichMessageProvider & { close(): Promise<void> }

export function openRichMessages({ config, masterKey, store, simulator, localUrl }: MessageParts): OpenMessages {
  const clock = systemClock
  const { adapter, requestMs } = config.carrier
  const webhookUrl = () => `${localUrl()}/carrier/simulator/messages`
  const simulated = lazyProvider(async () => {
    const { baseUrl, apiKey } = await simulator.open()
    return createSimulatedMessages({ baseUrl, apiKey, webhookUrl, requestMs, clock })
  })
  const { allowedSubnets } = config.outbound
  const client = createWebhookClient({ guard: { allowedSubnets }, monotonicMs: () => clock.monotonicMs() })
  const shared = {
    messages: store.rmsgMessages,
    providerOf: ({ test }: Tenant) => (test || adapter === 'simulator' ? simulated : null),
    clock,
    messageId: systemIds.session,
    isPhoneNumber,
  }
  const publicKey = publicKeyOf(simulatorSeed(masterKey))
  return {
    sendFromNumber: createSendFromNumber({
      ...shared,
      numbers: createRmsgNumbers(store.rmsgNumbers),
      keepsRemoved: config.rmsg.keepRemovedSend,
    }),
    sendAsAgent: createSendAsAgent({ ...shared, numbers: store.rmsgNumbers, agents: store.agents }),
    readers: new Map([['simulator', createSimulatedMessageWebhooks({ publicKey, clock })]]),
    receive: createReceiveEvent({
      client,
      clock,
      deadline: createDeadlines(clock),
      attemptId: systemIds.session,
      events: store.rmsgEvents,
      subscriptions: store.rmsgSubscriptions,
      secrets: store.webhookSecrets,
      headerWord: config.headerPrefix.toLowerCase(),
    }),
    close: async () => void (await Promise.all([simulated.close(), client.close()])),
  }
}

/** The simulated carrier starts with the first message. */
function lazyProvider(open: () => Promise<Provider>): Provider {
  let opened: Promise<Provider> | null = null
  return {
    async send(message) {
      opened ??= open()
      opened.catch(() => {
        opened = null
      })
      return (await opened).send(message)
    },
    close: async () => void (await (await opened)?.close()),
  }
}
