/** Any server that speaks OpenAI's protocol: chat/completions or responses, audio/transcriptions, audio/speech, realtime transcription. */

import type { Provider, ProviderPorts } from '../../domain/ports/provider.ts'
import type { Clock } from '../../domain/ports/system.ts'
import type { Stt } from '../../domain/speech/stt.ts'
import type { OutboundLimits } from '../../runtime/outbound/limits.ts'
import type { PublishedCatalog } from '../adapter.ts'
import type { MaxTokensField, ModelIds, OpenAiServer, RealtimeRules } from '../vendors.ts'
import { createHttpTransport } from '../wire/http.ts'
import { createSocketTransport, type SocketTransport, type WarmOutcome } from '../wire/socket.ts'
import { createLlm } from './llm.ts'
import { createPassThrough } from './llm-pass-through.ts'
import { createResponses } from './llm-responses.ts'
import { modelRows } from './models.ts'
import { createStt, openAiTranscriptions } from './stt.ts'
import { RealtimeAudio } from './stt-live-audio.ts'
import { openRealtime, realtimePath } from './stt-live-realtime.ts'
import { openSpeaches, speachesPath } from './stt-live-speaches.ts'
import { voxtralTranscriptions } from './stt-voxtral.ts'
import { createTts } from './tts.ts'
import { wire } from './wire.ts'

export type OpenAiOptions = {
  id: string
  /** With the path up to the version: `https://api.openai.com/v1`. */
  baseUrl: string
  /** Null for a server that asks for none. */
  apiKey: string | null
  models: ModelIds
  /** The figures, prices and dates of the rows. */
  catalog: PublishedCatalog
  maxTokensField: MaxTokensField | null
  asksForUsage: boolean
  /** Asks /responses where a request is not passed through. Absent: /chat/completions. */
  responses?: true
  /** Absent: no model listens while somebody speaks. */
  realtime?: RealtimeOptions
  /** As the preset has it. */
  transcriptions?: OpenAiServer['transcriptions']
  limits: OutboundLimits
  /** Why it cannot be called, or null. */
  unavailable: string | null
  monotonicMs: () => number
}

export type RealtimeOptions = {
  /** Those of `models.stt` that also listen on a socket. */
  models: readonly string[]
  rules: RealtimeRules
  clock: Clock
  /** Hears whether sockets that were opened ahead were of use; for the metrics. */
  observeWarm?: (outcome: WarmOutcome) => void
}

/** Throws TypeError when the base URL is none. */
export function createOpenAiProvider(options: OpenAiOptions): Provider {
  const { id, baseUrl, models, limits, monotonicMs, realtime, transcriptions } = options
  const shared = { baseUrl, wire, limits }
  const transport = createHttpTransport({ ...shared, monotonicMs })
  const sockets = realtime ? createSocketTransport({ ...shared, standby: realtimeStandby, ...realtime }) : null
  const ports = (apiKey: string | null): ProviderPorts => {
    const http = transport.signedWith(apiKey)
    const keyed = { ...options, apiKey }
    const asks = options.responses ? createResponses : createLlm
    const open = sockets && realtime ? openWith(sockets, apiKey, realtime, limits) : null
    const hears = transcriptions === 'voxtral' ? voxtralTranscriptions : openAiTranscriptions
    return {
      ...(models.llm?.length && { llm: { ...asks(http, keyed), chat: createPassThrough(http, keyed) } }),
      speech: {
        ...(models.stt?.length && { stt: { ...createStt(http, hears), ...(open && { open }) } }),
        ...(models.tts?.length && { tts: createTts(http, limits, apiKey) }),
      },
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

/** A session is billed by what it hears, so one that waits costs nothing. It needs no keep-alive: what is stale is replaced. */
const realtimeStandby = { keepAlive: null, idleMsMax: 60_000 }

/** How a session is opened, by whose rules it follows. */
const sessions = {
  openai: { pathOf: () => realtimePath, open: openRealtime, hearsG711: true },
  speaches: { pathOf: speachesPath, open: openSpeaches, hearsG711: false },
}

function openWith(
  sockets: SocketTransport,
  apiKey: string | null,
  { rules, clock }: RealtimeOptions,
  limits: OutboundLimits,
): NonNullable<Stt['open']> {
  const { pathOf, open, hearsG711 } = sessions[rules]
  return async (request, sink, signal) => {
    const path = pathOf(request)
    const audio = await RealtimeAudio.create(request.audio, hearsG711)
    try {
      const socket = await sockets.open(apiKey, { path }, signal)
      return await open(request, audio, { socket, sink, signal, apiKey, clock, limits })
    } catch (error) {
      audio.close()
      throw error
    }
  }
}
