/** The adapter in front of a stub. */
import { createElevenLabsProvider } from '../../../providers/elevenlabs/provider.ts'
import type { VendorOptions } from '../../../providers/vendor.ts'
import { systemClock } from '../../../runtime/clock.ts'
import { type OutboundLimits, outboundDefaults } from '../../../runtime/outbound/limits.ts'

export const apiKey = 'canary-xi-key'

export const options = (baseUrl: string, limits: OutboundLimits = outboundDefaults): VendorOptions => ({
  id: 'elevenlabs',
  baseUrl,
  apiKey,
  models: null,
  limits,
  clock: systemClock,
  unavailable: null,
})

export const provider = (baseUrl: string, limits?: OutboundLimits) => createElevenLabsProvider(options(baseUrl, limits))
