/** ElevenLabs: speech over HTTP and sockets, and its recognizers, Scribe. */
import type { Provider } from '../../domain/ports/provider.ts'
import type { VendorOptions } from '../adapter.ts'
import { createLiveStt } from '../wire/live-stt.ts'
import { connectionsOf, createVendorProvider } from '../wire/vendor-provider.ts'
import { elevenLabsModels, speechTraits } from './models.ts'
import { transcribe } from './stt.ts'
import { liveVendor, warmStt } from './stt-live.ts'
import { synthesize } from './tts.ts'
import { speakLive, warmTts } from './tts-live.ts'
import { hosts, regionOf, wire } from './wire.ts'

/** Throws TypeError for a base URL that is not a URL, RangeError for a model that is not served. */
export function createElevenLabsProvider(options: VendorOptions): Provider {
  const { limits, clock } = options
  const connections = connectionsOf(options, wire)
  const transport = connections.http(hosts.global)
  const sttSockets = connections.sockets(hosts.global, warmStt)
  const ttsSockets = connections.sockets(hosts.global, warmTts)
  const regions = [regionOf(options.baseUrl ?? hosts.global)]
  return createVendorProvider(options, {
    vendor: 'elevenlabs',
    models: elevenLabsModels.map((model) => ({ ...model, regions })),
    ports: (apiKey) => {
      const http = transport.signedWith(apiKey)
      const shared = { apiKey, clock, limits }
      return {
        speech: {
          tts: {
            synthesize: (request, signal) => synthesize(http, request, limits.audioBytesMax, signal),
            live: (request, signal) =>
              speechTraits[request.model]?.socket === true
                ? speakLive({ ...shared, sockets: ttsSockets }, request, signal)
                : synthesize(http, request, limits.audioBytesMax, signal),
          },
          stt: {
            transcribe: (request, signal) => transcribe(http, request, signal),
            open: createLiveStt({ ...shared, sockets: sttSockets }, liveVendor),
          },
        },
      }
    },
    close: [transport, sttSockets, ttsSockets],
  })
}
