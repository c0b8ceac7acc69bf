/**
 * The open answers on a connection. node:http writes them in the order of their requests. So if the newest answer is
 * closed, all are written.
 */
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** In the order of their requests. Answers before the newest may already be closed. */
const owed = new WeakMap<Socket, ServerResponse[]>()

/** Adds an answer to its connection. Must be called for every accepted request. */
export function oweAnswer(socket: Socket, response: ServerResponse): void {
  const responses = owed.get(socket)
  if (!responses) return void owed.set(socket, [response])
  if (owesAnswer(socket)) closeWith(socket, response)
  const open = responses.findIndex(({ destroyed }) => !destroyed)
  responses.splice(0, open < 0 ? responses.length : open)
  responses.push(response)
}

export function owesAnswer(socket: Socket): boolean {
  // node:http destroys a response after writing it or when its connection ends.
  return owed.get(socket)?.at(-1)?.destroyed === false
}

/**
 * True if the connection may not send further requests until the client reads an answer. node:http emits all requests
 * from one read, some thousand, and keeps every answer until the client reads it.
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

/** The most open answers on a connection. While no answer has its bytes yet, only this number bounds their memory. */
const answersMax = 16
/** The most unread bytes on a connection. A single answer may be larger. */
const unwrittenBytesMax = 1024 * 1024

/**
 * Reports the connection's end to an answer behind another answer. node:http reports it only to the answer being
 * written, so the others would wait for ever.
 */
function closeWith(socket: Socket, response: ServerResponse): void {
  const close = () => {
    if (response.socket !== null) return
    response.destroyed = true
    response.emit('close')
  }
  // Each answer adds a listener. The limit on all requests bounds their number.
  socket.setMaxListeners(0)
  socket.once('close', close)
  response.once('close', () => socket.off('close', close))
}
