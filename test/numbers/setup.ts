/** Sets up phone numbers over the store and the simulated carrier on a test clock. */
import type { Test } from 'tap'
import { createRules } from '../../app/resources.ts'
import { createBusinessVerifications } from '../../domain/numbers/business-verification.ts'
import { createCharges } from '../../domain/numbers/charges.ts'
import { createOrderLook, type NumberOrderStore } from '../../domain/numbers/orders.ts'
import { createPhoneNumbers } from '../../domain/numbers/phone-numbers.ts'
import type { NumberCarrier } from '../../domain/ports/number-carrier.ts'
import { ResourceFault } from '../../domain/records/resource-fault.ts'
import type { SmsRegistries } from '../../domain/records/sms-registration.ts'
import { createTelnyxNumbers } from '../../providers/telnyx/numbers.ts'
import { systemIds } from '../../runtime/timing/clock.ts'
import { isPhoneNumber, isUsNumber } from '../../runtime/values/phone-number.ts'
import { startSimulator } from '../../simulator/simulator.ts'
import { TestClock } from '../clock.ts'
import { organization, silent, type TestCluster } from '../store/cluster.ts'
import { creditOf } from '../store/credit.ts'

/** A number's price together with its first month, both paid at the purchase. */
export const atOnceMicroUsd = 2_000_000

export type Process = ReturnType<typeof processOf>

/**
 * Sets up a carrier, a store and processes. `carrier` replaces methods of the simulated carrier, and `orders` replaces
 * store methods for purchases. `registries` is needed only for numbers that are assigned to a text message campaign.
 */
export async function setUp(
  test: Test,
  cluster: TestCluster,
  processes = 1,
  carrier: Partial<NumberCarrier> = {},
  orders: Partial<NumberOrderStore> = {},
  registries: SmsRegistries = { of: () => refuse('no number of this test has a campaign') },
) {
  const clock = new TestClock()
  const silence = { samples: new Int16Array(8000), sampleRateHz: 8000 }
  const simulator = await startSimulator({
    clock,
    speak: () => Promise.resolve(silence),
    webhookUrl: 'http://127.0.0.1:9/',
  })
  const { baseUrl, apiKey } = simulator
  const simulated = createTelnyxNumbers({ baseUrl, apiKey, connectionId: '1', requestMs: 5000, clock })
  test.teardown(async () => {
    await simulated.close()
    await simulator.close()
  })
  const url = await cluster.database()
  const all: Process[] = []
  while (all.length < processes) {
    const store = await cluster.store(test, url, { clock, serves: false })
    all.push(processOf(store, { ...simulated, ...carrier }, clock, orders, registries))
  }
  const [first] = all as [Process]
  const { store, verifications } = first
  return {
    clock,
    simulated,
    processes: all,
    ...first,
    sql: cluster.sql(test, url),
    tenant: async (creditMicroUsd: number, { isVerified = true, test = false } = {}) => {
      const organizationId = (await organization(store, 'acme', creditMicroUsd)).id
      const forms = { businessProfile: {}, authorizedRepresentative: {}, attestationAccepted: true }
      if (isVerified) {
        await verifications.submit(organizationId, forms, 'key_1')
        await verifications.decide(organizationId, { event: 'approve' })
      }
      return { organizationId, test }
    },
    creditOf: (organizationId: string) => creditOf(store, organizationId),
  }
}

function processOf(
  store: Awaited<ReturnType<TestCluster['store']>>,
  carrier: NumberCarrier,
  clock: TestClock,
  orders: Partial<NumberOrderStore>,
  smsRegistries: SmsRegistries,
) {
  const carriers = { of: () => carrier }
  const verifications = createBusinessVerifications({
    store: store.businessVerifications,
    review: 'operator',
    clock,
    submissionId: systemIds.submission,
    isPhoneNumber,
  })
  const numbers = createPhoneNumbers({
    store: store.ownedNumbers,
    orders: { ...store.numberOrders, ...orders },
    verification: verifications,
    carriers,
    smsRegistries,
    rules: createRules({ rows: [] } as never, []),
    clock,
    numberId: systemIds.phoneNumber,
    isUsNumber,
    isPhoneNumber,
    importsNeedApproval: () => Promise.resolve(false),
    followsAgent: false,
  })
  return {
    store,
    numbers,
    verifications,
    look: createOrderLook({ orders: store.numberOrders, carriers, clock, log: silent }),
    charge: createCharges({ charges: store.numberCharges, clock, log: silent }),
  }
}

/** Returns the fault's data if the work rejects, or null if it succeeds. */
export const faultOf = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: unknown) => {
      if (error instanceof ResourceFault) return error.data
      throw error
    },
  )

function refuse(message: string): never {
  throw new Error(message)
}
