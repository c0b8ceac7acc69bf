/** Soniox: live speech to text, and text to speech. */
import type { Provider } from '../../domain/ports/provider.ts'
import type { VendorOptions } from '../wire/adapter.ts'
import { createLiveStt, refuseRecordings } from '../wire/live-stt.ts'
import { connectionsOf, createVendorProvider } from '../wire/vendor-provider.ts'
import { sonioxModels } from './models.ts'
import { liveVendor, warmStt } from './stt-live.ts'
import { synthesize, warmTts } from './tts.ts'
import { wire } from './wire.ts'

const sttUrl = 'https://stt-rt.soniox.com'
const ttsUrl = 'https://tts-rt.soniox.com'
/** Only checks of keys use this host. */
const restUrl = 'https://api.soniox.com'

/** Creates the provider. Throws TypeError for an invalid base URL, RangeError for an unknown model. */
export function createSonioxProvider(options: VendorOptions): Provider {
  const { limits, clock } = options
  const connections = connectionsOf(options, wire)
  const sttSockets = connections.sockets(sttUrl, warmStt)
  const ttsSockets = connections.sockets(ttsUrl, warmTts)
  const transport = connections.http(restUrl)
  return createVendorProvider(options, {
    vendor: 'soniox',
    models: sonioxModels,
    ports: (apiKey) => {
      const shared = { apiKey, clock, limits }
      return {
        speech: {
          stt: {
            transcribe: refuseRecordings,
            open: createLiveStt({ ...shared, sockets: sttSockets }, liveVendor),
          },
          tts: { synthesize: (request, signal) => synthesize({ ...shared, sockets: ttsSockets }, request, signal) },
        },
      }
    },
    keyChecks: transport,
    close: [sttSockets, ttsSockets, transport],
  })
}
