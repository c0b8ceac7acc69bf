/** Cartesia: Sonic, which speaks over HTTP and sockets, and Ink, which hears recordings and live audio. */
import type { Provider, ProviderPorts } from '../../domain/ports/provider.ts'
import type { Stt } from '../../domain/speech/stt.ts'
import type { VendorOptions } from '../adapter.ts'
import { createHttpTransport } from '../wire/http.ts'
import { createSocketTransport } from '../wire/socket.ts'
import { cartesiaModels, hearsTurns } from './models.ts'
import { transcribe } from './stt.ts'
import { FinalizingStream, finalizingPath } from './stt-live-finalize.ts'
import { standby as hearingStandby } from './stt-live-query.ts'
import { TurnsStream, turnsPath } from './stt-live-turns.ts'
import { synthesize } from './tts.ts'
import { standby as speakingStandby, speakLive } from './tts-live.ts'
import { wire } from './wire.ts'

const apiUrl = 'https://api.cartesia.ai'

/** Throws TypeError when the base URL is none, RangeError for a model that is not served. */
export function createCartesiaProvider(options: VendorOptions): Provider {
  const { id, limits, clock, observeWarm } = options
  const shared = { baseUrl: options.baseUrl ?? apiUrl, wire, limits }
  const transport = createHttpTransport({ ...shared, monotonicMs: () => clock.monotonicMs() })
  const socketOptions = { ...shared, clock, ...(observeWarm && { observeWarm }) }
  const speaking = createSocketTransport({ ...socketOptions, standby: speakingStandby })
  const hearing = createSocketTransport({ ...socketOptions, standby: hearingStandby })
  const ports = (apiKey: string | null): ProviderPorts => {
    const http = transport.signedWith(apiKey)
    const open: Stt['open'] = async (request, sink, signal) => {
      const path = hearsTurns(request.model) ? turnsPath(request) : finalizingPath(request)
      const socket = await hearing.open(apiKey, { path }, signal)
      const Stream = hearsTurns(request.model) ? TurnsStream : FinalizingStream
      const stream = new Stream(request, { socket, sink, signal, apiKey, clock, limits })
      await stream.opened
      return stream
    }
    return {
      speech: {
        tts: {
          synthesize: (request, signal) => synthesize(http, request, limits.audioBytesMax, signal),
          live: (request, signal) => speakLive({ sockets: speaking, apiKey, clock, limits }, request, signal),
        },
        stt: { transcribe: (request, signal) => transcribe(http, request, signal), open },
      },
    }
  }
  return {
    id,
    models: options.catalog.rows('cartesia', id, cartesiaModels, options.models),
    unavailable: () => options.unavailable,
    ports: ports(options.apiKey),
    forKey: ports,
    close: async () => void (await Promise.all([transport.close(), speaking.close(), hearing.close()])),
  }
}
