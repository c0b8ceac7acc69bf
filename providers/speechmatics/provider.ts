/** Speechmatics: live speech to text. */
import type { Provider } from '../../domain/ports/provider.ts'
import type { VendorOptions } from '../wire/adapter.ts'
import { createLiveStt, refuseRecordings } from '../wire/live-stt.ts'
import { connectionsOf, createVendorProvider } from '../wire/vendor-provider.ts'
import { speechmaticsModels } from './models.ts'
import { liveVendor } from './stt-live.ts'
import { wire } from './wire.ts'

const vendorUrl = 'https://eu2.rt.speechmatics.com'

/** Creates the provider. Throws TypeError for an invalid base URL, RangeError for an unknown model. */
export function createSpeechmaticsProvider(options: VendorOptions): Provider {
  const { limits, clock } = options
  // No socket is opened in advance, because the vendor does not document if a socket counts against the contract's
  // limits before `StartRecognition`.
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
