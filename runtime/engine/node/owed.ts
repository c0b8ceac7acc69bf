/**
 * The answers that a connection owes. node:http writes them in the order of their requests, so the newest tells whether
 * one is still to be written: it is closed when the connection is free again.
 */
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

const newest = new WeakMap<Socket, ServerResponse>()

/** Every request that is taken must be named here. */
export function oweAnswer(socket: Socket, response: ServerResponse): void {
  if (owesAnswer(socket)) closeWith(socket, response)
  newest.set(socket, response)
}

export function owesAnswer(socket: Socket): boolean {
  // node:http destroys a response when it is written or its connection has ended.
  return newest.get(socket)?.destroyed === false
}

/**
 * Reports the end of the connection to an answer that waits behind another. node:http reports it only to the one that is
 * being written, and the others would wait for ever.
 */
function closeWith(socket: Socket, response: ServerResponse): void {
  const close = () => {
    if (response.socket !== null) return
    response.destroyed = true
    response.emit('close')
  }
  // Each waits for itself, and their number is bounded by that of all requests.
  socket.setMaxListeners(0)
  socket.once('close', close)
  response.once('close', () => socket.off('close', close))
}
