/** AssemblyAI: recordings at one host, live speech at another. */
import type { Provider, ProviderPorts } from '../../domain/ports/provider.ts'
import type { VendorOptions } from '../adapter.ts'
import { createHttpTransport } from '../wire/http.ts'
import { createSocketTransport } from '../wire/socket.ts'
import { assemblyaiModels } from './models.ts'
import { Removals } from './removals.ts'
import { createStt } from './stt.ts'
import { openStream, streamPath } from './stt-live.ts'
import { wire } from './wire.ts'

const batchUrl = 'https://api.assemblyai.com'
const liveUrl = 'https://streaming.assemblyai.com'

export function createAssemblyaiProvider(options: VendorOptions): Provider {
  const { id, baseUrl, limits, clock } = options
  const shared = { wire, limits }
  const transport = createHttpTransport({
    ...shared,
    baseUrl: baseUrl ?? batchUrl,
    monotonicMs: () => clock.monotonicMs(),
  })
  // A session is billed from its opening, so none waits for its caller.
  const sockets = createSocketTransport({ ...shared, baseUrl: baseUrl ?? liveUrl, clock })
  const removals = new Removals(clock)
  const ports = (apiKey: string | null): ProviderPorts => ({
    speech: {
      stt: {
        ...createStt({ http: transport.signedWith(apiKey), clock, totalMs: limits.totalMs, removals }),
        async open(request, sink, signal) {
          const socket = await sockets.open(apiKey, { path: streamPath(request) }, signal)
          return openStream(request, { socket, sink, signal, apiKey, clock, limits })
        },
      },
    },
  })
  return {
    id,
    models: options.catalog.rows('assemblyai', id, assemblyaiModels, options.models),
    unavailable: () => options.unavailable,
    ports: ports(options.apiKey),
    forKey: ports,
    async close() {
      await removals.close()
      await Promise.all([transport.close(), sockets.close()])
    },
  }
}
