/** Any server that speaks OpenAI's protocol: chat/completions, audio/transcriptions, audio/speech. */
import type { Provider, ProviderPorts } from '../../domain/routing/provider.ts'
import type { AddressPolicy } from '../../runtime/outbound/address-guard.ts'
import type { OutboundLimits } from '../../runtime/outbound/limits.ts'
import { createTransport } from '../wire/http.ts'
import { dialect } from './dialect.ts'
import { createLlm, type MaxTokensField } from './llm.ts'
import { modelRows } from './models.ts'
import { createPassThrough } from './pass-through.ts'
import type { ModelIds } from './presets.ts'
import { createStt } from './stt.ts'
import { createTts } from './tts.ts'

export type OpenAiOptions = {
  id: string
  /** With the path up to the version: `https://api.openai.com/v1`. */
  baseUrl: string
  /** Null for a server that asks for none. */
  apiKey: string | null
  models: ModelIds
  maxTokensField: MaxTokensField | null
  asksForUsage: boolean
  limits: OutboundLimits
  /** Absent for a base URL that the operator configured (it may be private); set for one that a user gave. */
  guard?: AddressPolicy
  /** Why it cannot be called, or null. */
  unavailable: string | null
  monotonicMs: () => number
}

/** Throws TypeError when the base URL is none. */
export function createOpenAiProvider(options: OpenAiOptions): Provider {
  const { id, baseUrl, models, limits, guard, monotonicMs } = options
  const transport = createTransport({ baseUrl, dialect, limits, ...(guard && { guard }), monotonicMs })
  const ports = (apiKey: string | null): ProviderPorts => {
    const wire = transport.wire(apiKey)
    const keyed = { ...options, apiKey }
    return {
      ...(models.llm?.length && { llm: { ...createLlm(wire, keyed), chat: createPassThrough(wire, keyed) } }),
      ...(models.stt?.length && { stt: createStt(wire) }),
      ...(models.tts?.length && { tts: createTts(wire, limits.audioBytesMax) }),
    }
  }
  return {
    id,
    models: modelRows(id, baseUrl, models),
    unavailable: () => options.unavailable,
    ...ports(options.apiKey),
    forKey: ports,
    close: () => transport.close(),
  }
}
