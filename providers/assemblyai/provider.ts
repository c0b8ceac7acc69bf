/** AssemblyAI: recordings at one host, live speech at another. */
import type { Provider } from '../../domain/ports/provider.ts'
import type { VendorOptions } from '../wire/adapter.ts'
import { createLiveStt } from '../wire/live-stt.ts'
import { connectionsOf, createVendorProvider } from '../wire/vendor-provider.ts'
import { assemblyaiModels } from './models.ts'
import { Removals } from './removals.ts'
import { createStt } from './stt.ts'
import { liveVendor } from './stt-live.ts'
import { wire } from './wire.ts'

const batchUrl = 'https://api.assemblyai.com'
const liveUrl = 'https://streaming.assemblyai.com'

/** Creates the provider. Throws TypeError for an invalid base URL, RangeError for an unknown model. */
export function createAssemblyaiProvider(options: VendorOptions): Provider {
  const { limits, clock } = options
  const connections = connectionsOf(options, wire)
  const transport = connections.http(batchUrl)
  // A session is billed from its opening, so no socket is opened in advance.
  const sockets = connections.sockets(liveUrl)
  const removals = new Removals(clock)
  return createVendorProvider(options, {
    vendor: 'assemblyai',
    models: assemblyaiModels,
    ports: (apiKey) => ({
      speech: {
        stt: {
          ...createStt({ http: transport.signedWith(apiKey), clock, totalMs: limits.totalMs, removals }),
          open: createLiveStt({ sockets, apiKey, clock, limits }, liveVendor),
        },
      },
    }),
    keyChecks: transport,
    // Transcript deletions use the HTTP connections, so the connections stay open until the last deletion is done.
    close: [{ close: () => removals.close().then(() => transport.close()) }, sockets],
  })
}
