/** ElevenLabs: speech over HTTP and sockets, and its transcribers, Scribe. */
import type { Provider, ProviderPorts } from '../../domain/ports/provider.ts'
import type { Stt } from '../../domain/speech/stt.ts'
import type { Tts } from '../../domain/speech/tts.ts'
import type { VendorOptions } from '../adapter.ts'
import { createHttpTransport } from '../wire/http.ts'
import { createSocketTransport } from '../wire/socket.ts'
import { elevenLabsModels, speechTraits } from './models.ts'
import { transcribe } from './stt.ts'
import { listen, scribeStandby } from './stt-live.ts'
import { synthesize } from './tts.ts'
import { speakLive, speechStandby } from './tts-live.ts'
import { hosts, regionOf, wire } from './wire.ts'

/** Throws TypeError when the base URL is none, RangeError for a model that is not served. */
export function createElevenLabsProvider(options: VendorOptions): Provider {
  const { id, limits, clock, observeWarm } = options
  const baseUrl = options.baseUrl ?? hosts.global
  const shared = { baseUrl, wire, limits }
  const transport = createHttpTransport({ ...shared, monotonicMs: () => clock.monotonicMs() })
  const regions = [regionOf(baseUrl)]
  const socketOptions = { ...shared, clock, ...(observeWarm && { observeWarm }) }
  const speaking = createSocketTransport({ ...socketOptions, standby: speechStandby })
  const hearing = createSocketTransport({ ...socketOptions, standby: scribeStandby })
  const ports = (apiKey: string | null): ProviderPorts => {
    const http = transport.signedWith(apiKey)
    const bound = { apiKey, limits, clock }
    const tts: Tts = {
      synthesize: (request, signal) => synthesize(http, request, limits.audioBytesMax, signal),
      live: (request, signal) =>
        speechTraits[request.model]?.socket === true
          ? speakLive(speaking, request, bound, signal)
          : synthesize(http, request, limits.audioBytesMax, signal),
    }
    const stt: Stt = {
      transcribe: (request, signal) => transcribe(http, request, signal),
      open: (request, sink, signal) => listen(hearing, request, sink, bound, signal),
    }
    return { speech: { tts, stt } }
  }
  return {
    id,
    models: options.catalog
      .rows('elevenlabs', id, elevenLabsModels, options.models)
      .map((model) => ({ ...model, regions })),
    unavailable: () => options.unavailable,
    ports: ports(options.apiKey),
    forKey: ports,
    close: async () => void (await Promise.all([transport.close(), speaking.close(), hearing.close()])),
  }
}
