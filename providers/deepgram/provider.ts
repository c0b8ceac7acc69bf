/** Deepgram: Nova and Flux recognize speech, Aura synthesizes speech. */
import type { Provider } from '../../domain/ports/provider.ts'
import type { VendorOptions } from '../wire/adapter.ts'
import { createLiveStt } from '../wire/live-stt.ts'
import { connectionsOf, createVendorProvider } from '../wire/vendor-provider.ts'
import { deepgramModels } from './models.ts'
import { createTranscribe } from './stt.ts'
import { liveVendor, warmStt } from './stt-live.ts'
import { createSynthesize } from './tts.ts'
import { createLive, warmTts } from './tts-live.ts'
import { wire } from './wire.ts'

const vendorUrl = 'https://api.deepgram.com'

/** Creates the provider. Throws TypeError for an invalid base URL, RangeError for an unknown model. */
export function createDeepgramProvider(options: VendorOptions): Provider {
  const { limits, clock } = options
  const connections = connectionsOf(options, wire)
  const transport = connections.http(vendorUrl)
  const sttSockets = connections.sockets(vendorUrl, warmStt)
  const ttsSockets = connections.sockets(vendorUrl, warmTts)
  return createVendorProvider(options, {
    vendor: 'deepgram',
    models: deepgramModels,
    ports: (apiKey) => {
      const http = transport.signedWith(apiKey)
      const synthesize = createSynthesize(http, limits.audioBytesMax)
      const shared = { apiKey, clock, limits }
      return {
        speech: {
          stt: {
            transcribe: createTranscribe(http),
            open: createLiveStt({ ...shared, sockets: sttSockets }, liveVendor),
          },
          tts: { synthesize, live: createLive({ ...shared, sockets: ttsSockets, synthesize }) },
        },
      }
    },
    keyChecks: transport,
    close: [transport, sttSockets, ttsSockets],
  })
}
