import type { Provider, ProviderPorts } from '../../domain/ports/provider.ts'
import type { VendorOptions } from '../adapter.ts'
import { createHttpTransport } from '../wire/http.ts'
import { createLlm } from './llm.ts'
import { geminiModels } from './models.ts'
import { createTts } from './tts.ts'
import { wire } from './wire.ts'

/**
 * The Gemini API, with text and speech at one endpoint. Throws TypeError for an invalid base URL, RangeError for an
 * unknown model.
 */
export function createGeminiProvider(options: VendorOptions): Provider {
  const { id, limits, clock } = options
  const models = options.catalog.rows('gemini', id, geminiModels, options.models)
  const transport = createHttpTransport({
    baseUrl: options.baseUrl ?? 'https://generativelanguage.googleapis.com',
    wire,
    limits,
    monotonicMs: () => clock.monotonicMs(),
  })
  const ports = (apiKey: string | null): ProviderPorts => {
    const http = transport.signedWith(apiKey)
    return { llm: createLlm(http, apiKey, limits), speech: { tts: createTts(http, apiKey, limits) } }
  }
  return {
    id,
    models,
    unavailable: () => options.unavailable,
    ports: ports(options.apiKey),
    forKey: ports,
    close: () => transport.close(),
  }
}
