/** Deepgram: Nova and Flux hear, Aura speaks. */
import type { Provider, ProviderPorts } from '../../domain/ports/provider.ts'
import type { Stt } from '../../domain/speech/stt.ts'
import type { VendorOptions } from '../adapter.ts'
import { createHttpTransport } from '../wire/http.ts'
import { createSocketTransport, type Standby } from '../wire/socket.ts'
import { deepgramModels, isFlux } from './models.ts'
import { createTranscribe } from './stt.ts'
import { ListeningStream, listenStandby } from './stt-live.ts'
import { FluxDialogue } from './stt-live-flux.ts'
import { ListenDialogue } from './stt-live-listen.ts'
import { createSynthesize } from './tts.ts'
import { createLive, speakStandby } from './tts-live.ts'
import { wire } from './wire.ts'

const vendorUrl = 'https://api.deepgram.com'

/** Throws TypeError when the base URL is none, RangeError for a model that is not served. */
export function createDeepgramProvider(options: VendorOptions): Provider {
  const { id, limits, clock, observeWarm } = options
  const shared = { baseUrl: options.baseUrl ?? vendorUrl, wire, limits }
  const transport = createHttpTransport({ ...shared, monotonicMs: () => clock.monotonicMs() })
  const socketsOf = (standby: Standby) =>
    createSocketTransport({ ...shared, clock, standby, ...(observeWarm && { observeWarm }) })
  const hearing = socketsOf(listenStandby)
  const speaking = socketsOf(speakStandby)
  const ports = (apiKey: string | null): ProviderPorts => {
    const http = transport.signedWith(apiKey)
    const synthesize = createSynthesize(http, limits.audioBytesMax)
    const open: Stt['open'] = async (request, sink, signal) => {
      const dialogue = isFlux(request.model) ? new FluxDialogue(request, sink) : new ListenDialogue(request, sink)
      const socket = await hearing.open(apiKey, { path: dialogue.path }, signal)
      const stream = new ListeningStream(dialogue, { socket, sink, signal, apiKey, clock, limits })
      await stream.opened
      return stream
    }
    return {
      speech: {
        stt: { transcribe: createTranscribe(http), open },
        tts: { synthesize, live: createLive({ sockets: speaking, apiKey, clock, limits, synthesize }) },
      },
    }
  }
  return {
    id,
    models: options.catalog.rows('deepgram', id, deepgramModels, options.models),
    unavailable: () => options.unavailable,
    ports: ports(options.apiKey),
    forKey: ports,
    close: async () => void (await Promise.all([transport.close(), hearing.close(), speaking.close()])),
  }
}
