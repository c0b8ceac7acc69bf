import type { Provider } from '../../domain/ports/provider.ts'
import type { VendorOptions } from '../wire/adapter.ts'
import { connectionsOf, createVendorProvider } from '../wire/vendor-provider.ts'
import { createLlm } from './llm.ts'
import { geminiModels } from './models.ts'
import { createTts } from './tts.ts'
import { wire } from './wire.ts'

/**
 * Creates a provider for the Gemini API, with text and speech at one endpoint. Throws TypeError for an invalid base
 * URL, RangeError for an unknown model.
 */
export function createGeminiProvider(options: VendorOptions): Provider {
  const { limits } = options
  const transport = connectionsOf(options, wire).http('https://generativelanguage.googleapis.com')
  return createVendorProvider(options, {
    vendor: 'gemini',
    models: geminiModels,
    ports: (apiKey) => {
      const http = transport.signedWith(apiKey)
      return { llm: createLlm(http, apiKey, limits), speech: { tts: createTts(http, apiKey, limits) } }
    },
    keyChecks: transport,
    close: [transport],
  })
}
