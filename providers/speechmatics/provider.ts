/** Speechmatics: live speech. */

import type { Provider, ProviderPorts } from '../../domain/ports/provider.ts'
import { ProviderError } from '../../domain/ports/provider-error.ts'
import type { VendorOptions } from '../adapter.ts'
import { createSocketTransport } from '../wire/socket.ts'
import { speechmaticsModels } from './models.ts'
import { openStream, startRecognition } from './stt-live.ts'
import { wire } from './wire.ts'

const liveUrl = 'https://eu2.rt.speechmatics.com'

export function createSpeechmaticsProvider(options: VendorOptions): Provider {
  const { id, baseUrl, limits, clock } = options
  // Whether a connection that waits for its StartRecognition counts as one of the contract's is not documented, so none waits.
  const sockets = createSocketTransport({
    baseUrl: baseUrl ?? liveUrl,
    wire,
    limits,
    clock,
  })
  const ports = (apiKey: string | null): ProviderPorts => ({
    speech: {
      stt: {
        transcribe: () => Promise.reject(new ProviderError('unsupported', { sent: false, cause: 'live speech only' })),
        async open(request, sink, signal) {
          // It has to be told the language, and to guess one would be heard as rubbish.
          if (request.language === undefined)
            throw new ProviderError('unsupported', { sent: false, cause: 'no language' })
          const start = startRecognition(request, request.language)
          const socket = await sockets.open(apiKey, { path: '/v2' }, signal)
          return openStream(request, start, { socket, sink, signal, apiKey, clock, limits })
        },
      },
    },
  })
  return {
    id,
    models: options.catalog.rows('speechmatics', id, speechmaticsModels, options.models),
    unavailable: () => options.unavailable,
    ports: ports(options.apiKey),
    forKey: ports,
    close: () => sockets.close(),
  }
}
