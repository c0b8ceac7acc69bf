/**
 * The answers that a connection owes. node:http writes them in the order of their requests, so the newest tells whether
 * one is still to be written: it is closed when the connection is free again.
 */
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** In the order of their requests. Only those before the newest may be closed already. */
const owed = new WeakMap<Socket, ServerResponse[]>()

/** Every request that is taken must be named here. */
export function oweAnswer(socket: Socket, response: ServerResponse): void {
  const responses = owed.get(socket)
  if (!responses) return void owed.set(socket, [response])
  if (owesAnswer(socket)) closeWith(socket, response)
  const open = responses.findIndex(({ destroyed }) => !destroyed)
  responses.splice(0, open < 0 ? responses.length : open)
  responses.push(response)
}

export function owesAnswer(socket: Socket): boolean {
  // node:http destroys a response when it is written or its connection has ended.
  return owed.get(socket)?.at(-1)?.destroyed === false
}

/**
 * True when the connection may ask for nothing more until an answer is taken. node:http hands out all requests of one
 * read, some thousand, and keeps every answer until the client takes it.
 */
export function owesTooMuch(socket: Socket): boolean {
  if (!owesAnswer(socket)) return false
  let count = 0
  let bytes = 0
  for (const { destroyed, writableLength } of owed.get(socket) ?? []) {
    if (destroyed) continue
    count++
    bytes += writableLength
  }
  return count >= answersMax || bytes > unwrittenBytesMax
}

/** A connection owes no more. Before any of them is known, this number alone bounds what they will take. */
const answersMax = 16
/** A connection that owes more than this gets no further answer. A single answer may be larger. */
const unwrittenBytesMax = 1024 * 1024

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
