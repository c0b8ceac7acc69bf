/** The carriers that register text messages: the simulated one for test keys, and that of the configuration. */
import type { SmsRegistry } from './domain/ports/sms-registry.ts'
import type { SmsRegistries } from './domain/sms/registration.ts'
import type { ParleyConfig } from './generated/config/types.ts'
import { createTelnyxSmsRegistry } from './providers/telnyx/sms-registry.ts'
import { systemClock } from './runtime/clock.ts'
import type { SimulatedCarrier } from './simulated-carrier.ts'

type Registry = SmsRegistry & { close(): Promise<void> }

export function openSmsRegistries(
  { carrier: { adapter, requestMs, telnyx } }: Pick<ParleyConfig, 'carrier'>,
  simulator: Pick<SimulatedCarrier, 'open'>,
): SmsRegistries & { close(): Promise<void> } {
  const clock = systemClock
  const simulated = lazyRegistry(async () => {
    const { baseUrl, apiKey } = await simulator.open()
    return createTelnyxSmsRegistry({ baseUrl, apiKey, requestMs, clock })
  })
  const { apiKey, baseUrl } = telnyx
  const isReal = adapter === 'telnyx' && apiKey !== null
  const live = isReal ? createTelnyxSmsRegistry({ baseUrl, apiKey, requestMs, clock }) : simulated
  return {
    of: ({ test }) => (test ? simulated : live),
    close: async () => void (await Promise.all([simulated.close(), live.close()])),
  }
}

/** The simulated carrier starts with the first request. */
function lazyRegistry(open: () => Promise<Registry>): Registry {
  let opened: Promise<Registry> | null = null
  const registry = () => {
    opened ??= open()
    opened.catch(() => {
      opened = null
    })
    return opened
  }
  return {
    createBrand: async (profile) => (await registry()).createBrand(profile),
    updateBrand: async (id, profile) => (await registry()).updateBrand(id, profile),
    findBrand: async (id) => (await registry()).findBrand(id),
    findBrandsLike: async (profile, sinceMs) => (await registry()).findBrandsLike(profile, sinceMs),
    orderVetting: async (id, provider, vettingClass) => (await registry()).orderVetting(id, provider, vettingClass),
    findVetting: async (id, vettingClass) => (await registry()).findVetting(id, vettingClass),
    createCampaign: async (brandId, profile, reference) =>
      (await registry()).createCampaign(brandId, profile, reference),
    findCampaignByReference: async (brandId, reference) =>
      (await registry()).findCampaignByReference(brandId, reference),
    findCampaign: async (id) => (await registry()).findCampaign(id),
    assign: async (e164, campaignId) => (await registry()).assign(e164, campaignId),
    unassign: async (e164) => (await registry()).unassign(e164),
    findAssignment: async (e164) => (await registry()).findAssignment(e164),
    close: async () => void (await (await opened)?.close()),
  }
}
