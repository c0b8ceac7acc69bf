/**
 * The carriers for the registration of text-message senders (10DLC): the simulated carrier for test keys, and the
 * configured carrier.
 */
import type { SmsRegistry } from '../domain/ports/sms-registry.ts'
import type { SmsRegistries } from '../domain/records/sms-registration.ts'
import { createTelnyxSmsRegistry } from '../providers/telnyx/sms-registry.ts'
import type { App } from './app.ts'
import { lazily } from './lazily.ts'
import type { SimulatedCarrier } from './simulator.ts'

type Registry = SmsRegistry & { close(): Promise<void> }

const commands = [
  'createBrand',
  'updateBrand',
  'findBrand',
  'findBrandsLike',
  'orderVetting',
  'findVetting',
  'createCampaign',
  'findCampaignByReference',
  'findCampaign',
  'assign',
  'unassign',
  'findAssignment',
] as const

export function openSmsRegistries(
  { config, clock }: Pick<App, 'config' | 'clock'>,
  simulator: Pick<SimulatedCarrier, 'open'>,
): SmsRegistries & { close(): Promise<void> } {
  const { adapter, requestMs, telnyx } = config.carrier
  const simulated = lazily<Registry, (typeof commands)[number]>(commands, async () => {
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
