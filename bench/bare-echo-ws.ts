// The cost of a socket server on Node's stack: `ws` returns each frame. Forked by bench/sockets.ts.
import type { AddressInfo } from 'node:net'
import { WebSocketServer } from 'ws'

const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false, maxPayload: 64 * 1024 })
server.on('connection', (socket) => {
  socket.on('message', (message: Buffer, binary) => socket.send(message, { binary }))
  // A client resets its connection when a run ends.
  socket.on('error', () => socket.terminate())
})
server.on('listening', () => process.send?.({ port: (server.address() as AddressInfo).port }))
process.on('disconnect', () => process.exit(0))
