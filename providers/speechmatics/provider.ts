/** Speechmatics: live speech to text. */
import type { Provider } from '../../domain/ports/provider.ts'
import type { VendorOptions } from '../wire/adapter.ts'
import { createLiveStt, refuseRecordings } from '../wire/live-stt.ts'
import { connectionsOf, createVendorProvider } from '../wire/vendor-provider.ts'
import { speechmaticsModels } from './models.ts'
import { liveVendor } from './stt-live.ts'
import { wire } from './wire.ts'

const vendorUrl = 'https://eu2.rt.speechmatics.com'

/** Throws TypeError for a base URL that is not a URL, RangeError for a model that is not served. */
export function createSpeechmaticsProvider(options: VendorOptions): Provider {
  const { limits, clock } = options
  // The vendor does not document whether a socket before its StartRecognition counts against the contract, so there
  // are no warm sockets.
  const sockets = connectionsOf(options, wire).sockets(vendorUrl)
  return createVendorProvider(options, {
    vendor: 'speechmatics',
    models: speechmaticsModels,
    ports: (apiKey) => ({
      speech: {
        stt: { transcribe: refuseRecordings, open: createLiveStt({ sockets, apiKey, clock, limits }, liveVendor) },
      },
    }),
    close: [sockets],
  })
}
