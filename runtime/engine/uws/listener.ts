import { serve } from '../../http/lifecycle.ts'
import type { Engine } from '../engine.ts'
import type { Listener } from '../transport.ts'
import { createApp, listen, stopListening } from './app.ts'
import { serveSockets } from './sockets.ts'
import { UwsTransport } from './transport.ts'

/** The main port over uWebSockets.js: HTTP and sockets. Rejects when the port is taken or an option makes no sense. */
export async function openUws(engine: Engine): Promise<Listener> {
  const { host, port, sharedPort } = engine.options
  const app = createApp()
  serveSockets(engine, app)
  app.any('/*', (response, request) => void serve(engine, new UwsTransport(response, request)))
  const { socket, port: actual } = await listen(app, host, port, sharedPort)
  let isListening = true
  const refuse = () => {
    if (isListening) stopListening(socket)
    isListening = false
  }
  return {
    port: actual,
    refuse,
    close() {
      refuse()
      app.close()
      return Promise.resolve()
    },
  }
}
