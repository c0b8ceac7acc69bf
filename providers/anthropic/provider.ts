import type { Provider, ProviderPorts } from '../../domain/ports/provider.ts'
import type { VendorOptions } from '../adapter.ts'
import { createHttpTransport } from '../wire/http.ts'
import { createLlm } from './llm.ts'
import { anthropicModels } from './models.ts'
import { wire } from './wire.ts'

/** The Messages API. Throws TypeError for an invalid base URL, RangeError for an unknown model. */
export function createAnthropicProvider(options: VendorOptions): Provider {
  const { id, limits, clock } = options
  const models = options.catalog.rows('anthropic', id, anthropicModels, options.models)
  const transport = createHttpTransport({
    baseUrl: options.baseUrl ?? 'https://api.anthropic.com',
    wire,
    limits,
    monotonicMs: () => clock.monotonicMs(),
  })
  const ports = (apiKey: string | null): ProviderPorts => ({
    llm: createLlm(transport.signedWith(apiKey), apiKey, limits),
  })
  return {
    id,
    models,
    unavailable: () => options.unavailable,
    ports: ports(options.apiKey),
    forKey: ports,
    close: () => transport.close(),
  }
}
