/**
 * Phone numbers in this process: the carriers to buy from, business verification, the registration for text messages,
 * and the regular checks of orders and monthly charges.
 */
import { type BusinessVerifications, createBusinessVerifications } from '../domain/numbers/business-verification.ts'
import { chargeEveryMs, createCharges } from '../domain/numbers/charges.ts'
import { createOrderLook, lookEveryMs, type NumberCarriers } from '../domain/numbers/orders.ts'
import type { NumberCarrier } from '../domain/ports/number-carrier.ts'
import type { SmsRegistries } from '../domain/records/sms-registration.ts'
import { createSmsRegistrations, type SmsRegistrations } from '../domain/sms/sms-registrations.ts'
import type { ParleyConfig } from '../generated/config/types.ts'
import { createTelnyxNumbers } from '../providers/telnyx/numbers.ts'
import { Loops } from '../runtime/timing/loops.ts'
import { isPhoneNumber, isUsNumber } from '../runtime/values/phone-number.ts'
import type { Store } from '../store/store.ts'
import type { App } from './app.ts'
import { lazily } from './lazily.ts'
import { openSmsRegistries } from './registries.ts'
import type { SimulatedCarrier } from './simulator.ts'

export type Numbers = {
  carriers: NumberCarriers
  verifications: BusinessVerifications
  smsRegistries: SmsRegistries
  smsRegistrations: SmsRegistrations
}

type Carrier = NumberCarrier & { close(): Promise<void> }

const closeMs = 1_000

export function openNumbers(app: App, simulator: SimulatedCarrier): Numbers {
  const { config, store, clock, ids } = app
  const carriers = openCarriers(app, simulator)
  const registries = openSmsRegistries(app, simulator)
  app.closing(() => registries.close())
  startLoops(app, carriers)
  return {
    carriers,
    verifications: businessVerificationsOf(app),
    smsRegistries: registries,
    smsRegistrations: createSmsRegistrations({
      store: store.smsRegistrations,
      shared: store.sharedCampaign,
      numbers: store.numberCampaigns,
      registries,
      vettingProvider: config.sms.vettingProvider,
      campaignReference: ids.session,
      clock,
      isPhoneNumber,
      isUsNumber,
    }),
  }
}

const commands = ['search', 'offerOf', 'order', 'findOrder', 'resourceIdOf', 'release'] as const

function openCarriers(app: App, simulator: SimulatedCarrier): NumberCarriers {
  const { config, clock } = app
  const { adapter, requestMs, telnyx } = config.carrier
  const { apiKey, connectionId, baseUrl } = telnyx
  const simulated = lazily<Carrier, (typeof commands)[number]>(commands, async () => {
    const { baseUrl, apiKey } = await simulator.open()
    return createTelnyxNumbers({ baseUrl, apiKey, connectionId: 'simulator', requestMs, clock })
  })
  const isReal = adapter === 'telnyx' && apiKey !== null && connectionId !== null
  const carrier = isReal ? createTelnyxNumbers({ baseUrl, apiKey, connectionId, requestMs, clock }) : simulated
  app.closing(() => Promise.all([simulated.close(), carrier.close()]))
  return { of: ({ test }) => (test ? simulated : carrier) }
}

function startLoops(app: App, carriers: NumberCarriers): void {
  const { store, clock, log } = app
  const loops = new Loops(clock, log)
  app.closing(() => loops.stop(closeMs))
  const look = createOrderLook({ orders: store.numberOrders, carriers, clock, log })
  loops.start({ name: 'orders of phone numbers', everyMs: lookEveryMs, run: look })
  const charge = createCharges({ charges: store.numberCharges, clock, log })
  loops.start({ name: 'monthly charges of phone numbers', everyMs: chargeEveryMs, run: charge })
}

/** The part of the context for business verifications. A command has only this part, without a full serving process. */
type VerificationApp = Pick<App, 'clock' | 'ids'> & {
  config: Pick<ParleyConfig, 'kyb' | 'carrier'>
  store: Pick<Store, 'businessVerifications'>
}

export function businessVerificationsOf({ config, store, clock, ids }: VerificationApp): BusinessVerifications {
  const { kyb, carrier } = config
  return createBusinessVerifications({
    store: store.businessVerifications,
    review: kyb.review ?? (carrier.adapter === 'simulator' ? 'auto' : 'operator'),
    clock,
    submissionId: ids.submission,
    isPhoneNumber,
  })
}
