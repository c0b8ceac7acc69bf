/**
 * Creates a provider for a server with OpenAI's protocol: `chat/completions` or `responses`, `audio/transcriptions`,
 * `audio/speech`, realtime transcription.
 */

import type { Provider, ProviderPorts } from '../../domain/ports/provider.ts'
import type { Clock } from '../../domain/ports/system.ts'
import type { OutboundLimits } from '../../runtime/outbound/limits.ts'
import type { MaxTokensField, ModelIds, OpenAiServer, RealtimeRules } from '../vendors/vendors.ts'
import type { PublishedCatalog } from '../wire/adapter.ts'
import { createHttpTransport } from '../wire/http.ts'
import type { WarmOutcome } from '../wire/socket.ts'
import { createSocketTransport } from '../wire/socket-transport.ts'
import { checkedOver } from '../wire/vendor-provider.ts'
import { createLlm } from './llm.ts'
import { createPassThrough } from './llm-pass-through.ts'
import { createResponses } from './llm-responses.ts'
import { modelRows } from './models.ts'
import { createStt, openAiTranscriptions } from './stt.ts'
import { createRealtimeStt, warmStt } from './stt-live.ts'
import { voxtralTranscriptions } from './stt-voxtral.ts'
import { createTts } from './tts.ts'
import { wire } from './wire.ts'

export type OpenAiOptions = {
  id: string
  /** The base URL, with the path up to the version: `https://api.openai.com/v1`. */
  baseUrl: string
  /** The server's API key. Null if the server needs no key. */
  apiKey: string | null
  models: ModelIds
  /** The figures, prices and dates for the catalog rows. */
  catalog: PublishedCatalog
  maxTokensField: MaxTokensField | null
  asksForUsage: boolean
  /** Sends LLM requests to /responses instead of /chat/completions, except pass-through requests. */
  responses?: true
  /** The path to check a key, below the base URL: see the vendor table. Null if there is no such request. */
  keyCheck: string | null
  /** True if the server answers this path only with a valid key. */
  keyCheckNeedsKey: boolean
  /** The options for live transcription. Absent if no model transcribes live. */
  realtime?: RealtimeOptions
  /** The protocol variant for transcription requests, if their fields differ from OpenAI's. */
  transcriptions?: OpenAiServer['transcriptions']
  limits: OutboundLimits
  /** The reason why the provider cannot be used, or null. */
  unavailable: string | null
  clock: Clock
}

export type RealtimeOptions = {
  /** The ids in `models.stt` that also transcribe live. */
  models: readonly string[]
  rules: RealtimeRules
  /** Called after each use of a warm socket, for the metrics. */
  observeWarm?: (outcome: WarmOutcome) => void
}

/** Creates the provider. Throws TypeError for an invalid base URL. */
export function createOpenAiProvider(options: OpenAiOptions): Provider {
  const { id, baseUrl, models, limits, clock, realtime, transcriptions } = options
  const shared = { baseUrl, wire, limits, clock }
  const transport = createHttpTransport(shared)
  const sockets = realtime ? createSocketTransport({ ...shared, warm: warmStt, ...realtime }) : null
  const ports = (apiKey: string | null): ProviderPorts => {
    const http = transport.signedWith(apiKey)
    const keyed = { ...options, apiKey }
    const createPort = options.responses ? createResponses : createLlm
    const open = sockets && realtime ? createRealtimeStt({ sockets, apiKey, limits, clock }, realtime.rules) : null
    const form = transcriptions === 'voxtral' ? voxtralTranscriptions : openAiTranscriptions
    return {
      ...(models.llm?.length && { llm: { ...createPort(http, keyed), chat: createPassThrough(http, keyed) } }),
      speech: {
        ...(models.stt?.length && { stt: { ...createStt(http, form), ...(open && { open }) } }),
        ...(models.tts?.length && { tts: createTts(http, limits, apiKey) }),
      },
      ...(options.keyCheck !== null && checkedOver(transport, apiKey, options.keyCheck, options.keyCheckNeedsKey)),
    }
  }
  return {
    id,
    models: modelRows({ id, baseUrl, models, live: realtime?.models ?? [], transcriptions }, options.catalog),
    unavailable: () => options.unavailable,
    ports: ports(options.apiKey),
    forKey: ports,
    close: async () => void (await Promise.all([transport.close(), sockets?.close()])),
  }
}
