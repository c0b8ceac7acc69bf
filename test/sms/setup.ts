/** Text message registrations over the store and the simulated carrier on a test clock. */
import { randomUUID } from 'node:crypto'
import type { Test } from 'tap'
import type { SmsRegistry } from '../../domain/ports/sms-registry.ts'
import type { Tenant } from '../../domain/records/organization.ts'
import { ResourceFault } from '../../domain/records/resource-fault.ts'
import type { SmsRegistrationStore } from '../../domain/records/sms-registration.ts'
import { createSmsRegistrations } from '../../domain/sms/sms-registrations.ts'
import { createTelnyxSmsRegistry } from '../../providers/telnyx/sms-registry.ts'
import { isPhoneNumber, isUsNumber } from '../../runtime/values/phone-number.ts'
import { startSimulator } from '../../simulator/simulator.ts'
import { brandProfile, campaignProfile } from '../carrier/sms-profiles.ts'
import { insertNumber } from '../phone/stored-number.ts'
import { clockOfNow } from '../simulator/setup.ts'
import { organization, type TestCluster } from '../store/cluster.ts'

export const reviewMs = 5_000
export const campaignReviewMs = 60_000
export const assignmentMs = 2_000

export async function setUp(
  test: Test,
  cluster: TestCluster,
  changed: Partial<SmsRegistry> = {},
  changedStore: (stored: SmsRegistrationStore) => Partial<SmsRegistrationStore> = () => ({}),
) {
  const clock = clockOfNow()
  const speak = () => Promise.reject(new Error('nobody speaks here'))
  const simulator = await startSimulator({ clock, speak, webhookUrl: 'http://127.0.0.1:9/' })
  const { baseUrl, apiKey } = simulator
  const simulated = createTelnyxSmsRegistry({ baseUrl, apiKey, requestMs: 5000, clock })
  test.teardown(async () => {
    await simulated.close()
    await simulator.close()
  })
  const asked: string[] = []
  const registry = recorded({ ...simulated, ...changed }, asked)
  const url = await cluster.database()
  const store = await cluster.store(test, url, { clock, serves: false })
  const sql = cluster.sql(test, url)
  const registrations = createSmsRegistrations({
    store: { ...store.smsRegistrations, ...changedStore(store.smsRegistrations) },
    shared: store.sharedCampaign,
    numbers: store.numberCampaigns,
    registries: { of: () => registry },
    vettingProvider: 'AEGIS',
    campaignReference: randomUUID,
    clock,
    isPhoneNumber,
    isUsNumber,
  })
  return {
    clock,
    /** The names of the requests that the carrier has received. */
    asked,
    simulated,
    store,
    sql,
    ...registrations,
    tenant: async (test = false): Promise<Tenant> => ({ organizationId: (await organization(store, 'acme')).id, test }),
    /** Makes a phone number for text messages, as if bought from the carrier. */
    number: async (tenant: Tenant, e164: string, more: { source?: string; takesSms?: boolean } = {}) => {
      const id = await insertNumber(sql, tenant, { e164 })
      const { source = 'managed', takesSms = true } = more
      await sql`update phone_numbers set takes_sms = ${takesSms}, source = ${source} where id = ${id}`
      return id
    },
    verified: async (tenant: Tenant, more: Partial<typeof brandProfile> = {}) => {
      await registrations.brands.save(tenant, { ...brandProfile, ...more })
      await registrations.brands.submit(tenant)
      await clock.advance(reviewMs)
      return registrations.brands.submit(tenant)
    },
    submitted: async (tenant: Tenant, more: Partial<typeof campaignProfile> = {}) => {
      await registrations.campaigns.save(tenant, { ...campaignProfile, ...more })
      return registrations.campaigns.submit(tenant)
    },
  }
}

function recorded(registry: SmsRegistry, asked: string[]): SmsRegistry {
  return new Proxy(registry, {
    get(target, name: keyof SmsRegistry) {
      const method = target[name].bind(target) as (...args: unknown[]) => unknown
      return (...args: unknown[]) => {
        asked.push(name)
        return method(...args)
      }
    },
  })
}

/** Returns the fault's data if the work rejects. Null if the work succeeds. */
export const faultOf = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: unknown) => {
      if (error instanceof ResourceFault) return error.data
      throw error
    },
  )
