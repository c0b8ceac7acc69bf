/** Soniox: live speech, and speech out of text. */

import type { Provider, ProviderPorts } from '../../domain/ports/provider.ts'
import { ProviderError } from '../../domain/ports/provider-error.ts'
import type { VendorOptions } from '../adapter.ts'
import { createSocketTransport } from '../wire/socket.ts'
import { sonioxModels } from './models.ts'
import { openStream } from './stt-live.ts'
import { speechStandby, synthesize } from './tts.ts'
import { wire } from './wire.ts'

const liveUrl = 'https://stt-rt.soniox.com'
const speechUrl = 'https://tts-rt.soniox.com'
/** The first frame starts the request, and with it what is billed: a socket may wait for it, half of the time after which an idle one is closed. */
const liveStandby = { keepAlive: null, idleMsMax: 10_000 }

export function createSonioxProvider(options: VendorOptions): Provider {
  const { id, baseUrl, limits, clock, observeWarm } = options
  const shared = { wire, limits, clock, ...(observeWarm && { observeWarm }) }
  const hearing = createSocketTransport({ ...shared, baseUrl: baseUrl ?? liveUrl, standby: liveStandby })
  const speaking = createSocketTransport({ ...shared, baseUrl: baseUrl ?? speechUrl, standby: speechStandby })
  const ports = (apiKey: string | null): ProviderPorts => ({
    speech: {
      stt: {
        transcribe: () => Promise.reject(new ProviderError('unsupported', { sent: false, cause: 'live speech only' })),
        async open(request, sink, signal) {
          const socket = await hearing.open(apiKey, { path: '/transcribe-websocket' }, signal)
          return openStream(request, { socket, sink, signal, apiKey, clock, limits })
        },
      },
      tts: {
        synthesize: (request, signal) => synthesize({ sockets: speaking, apiKey, clock, limits }, request, signal),
      },
    },
  })
  return {
    id,
    models: options.catalog.rows('soniox', id, sonioxModels, options.models),
    unavailable: () => options.unavailable,
    ports: ports(options.apiKey),
    forKey: ports,
    close: async () => void (await Promise.all([hearing.close(), speaking.close()])),
  }
}
