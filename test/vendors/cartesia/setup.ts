/** The adapter in front of a stub. */
import { ProviderError } from '../../../domain/routing/provider-error.ts'
import { createCartesiaProvider } from '../../../providers/cartesia/provider.ts'
import type { VendorOptions } from '../../../providers/vendor.ts'
import { systemClock } from '../../../runtime/clock.ts'
import { type OutboundLimits, outboundDefaults } from '../../../runtime/outbound/limits.ts'

export const apiKey = 'canary-sk-car'

export const options = (baseUrl: string, limits: OutboundLimits = outboundDefaults): VendorOptions => ({
  id: 'cartesia',
  baseUrl,
  apiKey,
  models: null,
  limits,
  clock: systemClock,
  unavailable: null,
})

export const provider = (baseUrl: string, limits?: OutboundLimits) => createCartesiaProvider(options(baseUrl, limits))

export async function failureOf(work: Promise<unknown>): Promise<ProviderError> {
  try {
    await work
  } catch (error) {
    if (error instanceof ProviderError) return error
    throw error
  }
  throw new Error('it succeeded')
}
