/** Phone numbers of this process: the carriers that sell them, who may buy, and the work on them that repeats. */
import { type BusinessVerifications, createBusinessVerifications } from './domain/numbers/business-verification.ts'
import { chargeEveryMs, createCharges } from './domain/numbers/charges.ts'
import { createOrderLook, lookEveryMs, type NumberCarriers } from './domain/numbers/orders.ts'
import type { NumberCarrier } from './domain/ports/number-carrier.ts'
import type { SmsRegistries } from './domain/sms/registration.ts'
import { createSmsRegistrations, type SmsRegistrations } from './domain/sms/sms-registrations.ts'
import type { ParleyConfig } from './generated/config/types.ts'
import { createTelnyxNumbers } from './providers/telnyx/numbers.ts'
import { systemClock, systemIds } from './runtime/clock.ts'
import type { createLog } from './runtime/log.ts'
import { Loops } from './runtime/loops.ts'
import { isPhoneNumber, isUsNumber } from './runtime/phone-number.ts'
import type { SimulatedCarrier } from './simulated-carrier.ts'
import { openSmsRegistries } from './sms-registries.ts'
import type { Store } from './store/store.ts'

type SmsStores = 'smsRegistrations' | 'sharedCampaign' | 'numberCampaigns'

export type NumberParts = {
  config: ParleyConfig
  store: Pick<Store, 'numberOrders' | 'numberCharges' | 'businessVerifications' | SmsStores>
  simulator: SimulatedCarrier
  log: ReturnType<typeof createLog>
}

export type OpenNumbers = {
  carriers: NumberCarriers
  verifications: BusinessVerifications
  smsRegistries: SmsRegistries
  smsRegistrations: SmsRegistrations
  close(): Promise<void>
}

type Carrier = NumberCarrier & { close(): Promise<void> }

const closeMs = 1_000

export function openPhoneNumbers({ config, store, simulator, log }: NumberParts): OpenNumbers {
  const clock = systemClock
  const { adapter, requestMs, telnyx } = config.carrier
  const { apiKey, connectionId, baseUrl } = telnyx
  const simulated = lazyCarrier(async () => {
    const { baseUrl, apiKey } = await simulator.open()
    return createTelnyxNumbers({ baseUrl, apiKey, connectionId: 'simulator', requestMs, clock })
  })
  const isReal = adapter === 'telnyx' && apiKey !== null && connectionId !== null
  const carrier = isReal ? createTelnyxNumbers({ baseUrl, apiKey, connectionId, requestMs, clock }) : simulated
  const carriers: NumberCarriers = { of: ({ test }) => (test ? simulated : carrier) }
  const sms = openSmsRegistries(config, simulator)
  const loops = new Loops(clock, log)
  const look = createOrderLook({ orders: store.numberOrders, carriers, clock, log })
  loops.start({ name: 'orders of phone numbers', everyMs: lookEveryMs, run: look })
  const charge = createCharges({ charges: store.numberCharges, clock, log })
  loops.start({ name: 'monthly charges of phone numbers', everyMs: chargeEveryMs, run: charge })
  return {
    carriers,
    verifications: businessVerificationsOf(config, store),
    smsRegistries: sms,
    smsRegistrations: createSmsRegistrations({
      store: store.smsRegistrations,
      shared: store.sharedCampaign,
      numbers: store.numberCampaigns,
      registries: sms,
      vettingProvider: config.sms.vettingProvider,
      campaignReference: systemIds.session,
      clock,
      isPhoneNumber,
      isUsNumber,
    }),
    async close() {
      await loops.stop(closeMs)
      await Promise.all([simulated.close(), carrier.close(), sms.close()])
    },
  }
}

export function businessVerificationsOf(
  { kyb, carrier }: Pick<ParleyConfig, 'kyb' | 'carrier'>,
  store: Pick<Store, 'businessVerifications'>,
): BusinessVerifications {
  return createBusinessVerifications({
    store: store.businessVerifications,
    review: kyb.review ?? (carrier.adapter === 'simulator' ? 'auto' : 'operator'),
    clock: systemClock,
    submissionId: systemIds.submission,
    isPhoneNumber,
  })
}

/** The simulated carrier starts with the first request. */
function lazyCarrier(open: () => Promise<Carrier>): Carrier {
  let opened: Promise<Carrier> | null = null
  const carrier = () => {
    opened ??= open()
    opened.catch(() => {
      opened = null
    })
    return opened
  }
  return {
    search: async (wanted) => (await carrier()).search(wanted),
    offerOf: async (e164) => (await carrier()).offerOf(e164),
    order: async (e164, reference) => (await carrier()).order(e164, reference),
    findOrder: async (order) => (await carrier()).findOrder(order),
    resourceIdOf: async (e164) => (await carrier()).resourceIdOf(e164),
    release: async (resourceId) => (await carrier()).release(resourceId),
    close: async () => void (await (await opened)?.close()),
  }
}
