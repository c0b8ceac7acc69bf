import type { Provider } from '../../domain/ports/provider.ts'
import type { VendorOptions } from '../wire/adapter.ts'
import { connectionsOf, createVendorProvider } from '../wire/vendor-provider.ts'
import { createLlm } from './llm.ts'
import { anthropicModels } from './models.ts'
import { wire } from './wire.ts'

/**
 * Creates a provider for the Messages API. Throws TypeError for an invalid base URL, RangeError for an unknown model.
 */
export function createAnthropicProvider(options: VendorOptions): Provider {
  const transport = connectionsOf(options, wire).http('https://api.anthropic.com')
  return createVendorProvider(options, {
    vendor: 'anthropic',
    models: anthropicModels,
    ports: (apiKey) => ({ llm: createLlm(transport.signedWith(apiKey), apiKey, options.limits) }),
    keyChecks: transport,
    close: [transport],
  })
}
