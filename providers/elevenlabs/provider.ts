/** ElevenLabs: text to speech over HTTP and sockets, and speech to text (Scribe). */
import type { Provider } from '../../domain/ports/provider.ts'
import type { VendorOptions } from '../wire/adapter.ts'
import { createLiveStt } from '../wire/live-stt.ts'
import { connectionsOf, createVendorProvider } from '../wire/vendor-provider.ts'
import { elevenLabsModels, speechTraits } from './models.ts'
import { transcribe } from './stt.ts'
import { liveVendor, warmStt } from './stt-live.ts'
import { synthesize } from './tts.ts'
import { speakLive, warmTts } from './tts-live.ts'
import { wire } from './wire.ts'

/**
 * Every key is valid at this host. For an account with data residency in a region, configure another host as base URL,
 * such as api.eu.residency.elevenlabs.io.
 */
const vendorUrl = 'https://api.elevenlabs.io'

/** Creates the provider. Throws TypeError for an invalid base URL, RangeError for an unknown model. */
export function createElevenLabsProvider(options: VendorOptions): Provider {
  const { limits, clock } = options
  const connections = connectionsOf(options, wire)
  const transport = connections.http(vendorUrl)
  const sttSockets = connections.sockets(vendorUrl, warmStt)
  const ttsSockets = connections.sockets(vendorUrl, warmTts)
  return createVendorProvider(options, {
    vendor: 'elevenlabs',
    models: elevenLabsModels,
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
    keyChecks: transport,
    close: [transport, sttSockets, ttsSockets],
  })
}
