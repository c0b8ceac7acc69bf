/**
 * A server that speaks OpenAI's protocol: chat/completions or responses, audio/transcriptions, audio/speech, realtime
 * transcription.
 */

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
  /** It includes the path up to the version: `https://api.openai.com/v1`. */
  baseUrl: string
  /** Null for a server that needs no key. */
  apiKey: string | null
  models: ModelIds
  /** The figures, prices and dates of the rows. */
  catalog: PublishedCatalog
  maxTokensField: MaxTokensField | null
  asksForUsage: boolean
  /** Sends LLM requests that are not passed through to /responses instead of /chat/completions. */
  responses?: true
  /** Absent if no model transcribes live. */
  realtime?: RealtimeOptions
  /** The fields of a transcription request. OpenAI's are the default. */
  transcriptions?: OpenAiServer['transcriptions']
  limits: OutboundLimits
  /** The reason why it cannot be called, or null. */
  unavailable: string | null
  monotonicMs: () => number
}

export type RealtimeOptions = {
  /** The ids of `models.stt` that also transcribe live. */
  models: readonly string[]
  rules: RealtimeRules
  clock: Clock
  /** Is called with the use that was made of a warm socket, for the metrics. */
  observeWarm?: (outcome: WarmOutcome) => void
}

/** Throws TypeError for an invalid base URL. */
export function createOpenAiProvider(options: OpenAiOptions): Provider {
  const { id, baseUrl, models, limits, monotonicMs, realtime, transcriptions } = options
  const shared = { baseUrl, wire, limits }
  const transport = createHttpTransport({ ...shared, monotonicMs })
  const sockets = realtime ? createSocketTransport({ ...shared, standby: realtimeStandby, ...realtime }) : null
  const ports = (apiKey: string | null): ProviderPorts => {
    const http = transport.signedWith(apiKey)
    const keyed = { ...options, apiKey }
    const createPort = options.responses ? createResponses : createLlm
    const open = sockets && realtime ? openWith(sockets, apiKey, realtime, limits) : null
    const form = transcriptions === 'voxtral' ? voxtralTranscriptions : openAiTranscriptions
    return {
      ...(models.llm?.length && { llm: { ...createPort(http, keyed), chat: createPassThrough(http, keyed) } }),
      speech: {
        ...(models.stt?.length && { stt: { ...createStt(http, form), ...(open && { open }) } }),
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

/** A session is billed by its audio, so a warm one costs nothing. It needs no keep-alive, since a stale one is replaced. */
const realtimeStandby = { keepAlive: null, idleMsMax: 60_000 }

/** The ways to open a session, by the protocol of its socket. */
const sessions = {
  openai: { pathOf: () => realtimePath, open: openRealtime, takesG711: true },
  speaches: { pathOf: speachesPath, open: openSpeaches, takesG711: false },
}

function openWith(
  sockets: SocketTransport,
  apiKey: string | null,
  { rules, clock }: RealtimeOptions,
  limits: OutboundLimits,
): NonNullable<Stt['open']> {
  const { pathOf, open, takesG711 } = sessions[rules]
  return async (request, sink, signal) => {
    const path = pathOf(request)
    const audio = await RealtimeAudio.create(request.audio, takesG711)
    try {
      const socket = await sockets.open(apiKey, { path }, signal)
      return await open(request, audio, { socket, sink, signal, apiKey, clock, limits })
    } catch (error) {
      audio.close()
      throw error
    }
  }
}
