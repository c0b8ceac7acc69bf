/** The adapter for ElevenLabs, connected to a stub. */
import { createElevenLabsProvider } from '../../../providers/elevenlabs/provider.ts'
import type { OutboundLimits } from '../../../runtime/outbound/limits.ts'
import { vendorOptions } from '../suite/given.ts'

export const apiKey = 'canary-xi-key'

export const options = (baseUrl: string, limits?: OutboundLimits) =>
  vendorOptions('elevenlabs', apiKey, baseUrl, limits)

export const provider = (baseUrl: string, limits?: OutboundLimits) => createElevenLabsProvider(options(baseUrl, limits))
