/** The adapter for Cartesia, connected to a stub. */
import { createCartesiaProvider } from '../../../providers/cartesia/provider.ts'
import type { OutboundLimits } from '../../../runtime/outbound/limits.ts'
import { vendorOptions } from '../suite/given.ts'

export const apiKey = 'canary-sk-car'

export const options = (baseUrl: string, limits?: OutboundLimits) => vendorOptions('cartesia', apiKey, baseUrl, limits)

export const provider = (baseUrl: string, limits?: OutboundLimits) => createCartesiaProvider(options(baseUrl, limits))
