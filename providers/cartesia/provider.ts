/** Cartesia: Sonic synthesizes speech over HTTP and sockets, Ink recognizes recordings and live audio. */
import type { Provider } from '../../domain/ports/provider.ts'
import type { VendorOptions } from '../wire/adapter.ts'
import { createLiveStt } from '../wire/live-stt.ts'
import { connectionsOf, createVendorProvider } from '../wire/vendor-provider.ts'
import { cartesiaModels } from './models.ts'
import { transcribe } from './stt.ts'
import { liveVendor, warmStt } from './stt-live.ts'
import { synthesize } from './tts.ts'
import { speakLive, warmTts } from './tts-live.ts'
import { wire } from './wire.ts'

const vendorUrl = 'https://api.cartesia.ai'

/** Creates the provider. Throws TypeError for an invalid base URL, RangeError for an unknown model. */
export function createCartesiaProvider(options: VendorOptions): Provider {
  const { limits, clock } = options
  const connections = connectionsOf(options, wire)
  const transport = connections.http(vendorUrl)
  const sttSockets = connections.sockets(vendorUrl, warmStt)
  const ttsSockets = connections.sockets(vendorUrl, warmTts)
  return createVendorProvider(options, {
    vendor: 'cartesia',
    models: cartesiaModels,
    ports: (apiKey) => {
      const http = transport.signedWith(apiKey)
      const shared = { apiKey, clock, limits }
      return {
        speech: {
          tts: {
            synthesize: (request, signal) => synthesize(http, request, limits.audioBytesMax, signal),
            live: (request, signal) => speakLive({ ...shared, sockets: ttsSockets }, request, signal),
          },
          stt: {
            transcribe: (request, signal) => transcribe(http, request, signal),
            open: createLiveStt({ ...shared, sockets: sttSockets }, liveVendor),
          },
        },
      }
    },
    keyChecks: transport,
    close: [transport, sttSockets, ttsSockets],
  })
}
