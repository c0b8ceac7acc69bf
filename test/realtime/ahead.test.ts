/** A client that sends audio faster than its provider reads is refused. The provider still serves all other clients. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { type WebSocket, WebSocketServer } from 'ws'
import { ownServer } from '../server.ts'
import { type Client, start } from './socket.ts'

/** This vendor accepts sockets, but reads nothing from the first socket. */
const server = createServer()
const sockets: WebSocket[] = []
new WebSocketServer({ server }).on('connection', (socket) => {
  sockets.push(socket)
  if (sockets.length === 1) socket.pause()
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
const { port } = server.address() as AddressInfo
const vendor = { id: 'vendor', adapter: 'deepgram', baseUrl: `http://127.0.0.1:${port}`, apiKey: 'k' }
t.teardown(() => {
  for (const socket of sockets) socket.terminate()
  server.close()
})
const parley = await ownServer(t, {
  PARLEY_PROVIDERS: JSON.stringify([{ ...vendor, models: { stt: ['nova-3'] } }]),
  PARLEY_LOCAL_ENABLED: 'false',
  PARLEY_WARM_SOCKETS_PER_ROUTE: '0',
  // A single failure would open the provider's circuit, so the next client is served only if no failure was counted.
  PARLEY_CIRCUIT_FAILURES_MAX: '1',
  PARLEY_CIRCUIT_OPEN_MS: '60000',
  PARLEY_CIRCUIT_OPEN_MAX_MS: '60000',
})

const address = '/v1/transcribe/stream'
const connect = (): Promise<Client> => start(parley, address, { language: 'en', sampleRate: 48_000 })

t.test('a client that sends audio two minutes ahead is refused, and the next client is served', async (t) => {
  const client = await connect()
  // The limit is two minutes of audio (11.5 MB). Socket buffers of the operating system take some more.
  const second = Buffer.alloc(96_000)
  for (let i = 0; i < 600 && client.socket.readyState === client.socket.OPEN; i++) {
    client.sendBytes(second)
    if (i % 20 === 0) await new Promise((resolve) => setTimeout(resolve, 5))
  }
  t.equal(await client.closed, 1013)
  t.match(client.frames('error'), [{ code: 'RATE_LIMITED', retryable: true }])
  const next = await connect()
  t.match(next.frames('ready'), [{ provider: 'vendor' }])
  next.socket.terminate()
})
