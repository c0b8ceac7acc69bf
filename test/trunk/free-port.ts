import { createSocket } from 'node:dgram'
import { once } from 'node:events'

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const socket = createSocket('udp4')
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const { port } = socket.address()
  socket.close()
  await once(socket, 'close')
  return port
}
