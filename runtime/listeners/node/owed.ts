/**
 * Tracks the responses that a connection still owes (HTTP pipelining). node:http writes them in the order of their
 * requests. So once the newest response is closed, the earlier responses are written too.
 */
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Each connection's responses, in the order of their requests. Responses before the newest may already be closed. */
const owed = new WeakMap<Socket, ServerResponse[]>()

/** Adds a response to its connection. Must be called for every accepted request. */
export function oweAnswer(socket: Socket, response: ServerResponse): void {
  const responses = owed.get(socket)
  if (!responses) return void owed.set(socket, [response])
  if (owesAnswer(socket)) closeWith(socket, response)
  const open = responses.findIndex(({ destroyed }) => !destroyed)
  responses.splice(0, open < 0 ? responses.length : open)
  responses.push(response)
}

export function owesAnswer(socket: Socket): boolean {
  // node:http destroys a response after writing it or when its connection ends, so any other response is still owed.
  return owed.get(socket)?.at(-1)?.destroyed === false
}

/**
 * True if the connection may not run more requests until the client reads a response. node:http emits all requests from
 * one read, some thousand, and keeps every response until the client reads it.
 */
export function owesTooMuch(socket: Socket): boolean {
  if (dropped.has(socket)) return true
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

/**
 * Drops a request without running it. No later request on its connection runs, and the connection closes after the owed
 * responses. The client sends the unanswered requests again (RFC 9112, 9.3.2 and 9.6).
 */
export function dropRequest(socket: Socket): void {
  const count = dropped.get(socket) ?? 0
  dropped.set(socket, count + 1)
  const newest = owed.get(socket)?.at(-1)
  if (count >= droppedMax || newest === undefined) return void socket.destroy()
  socket.pause()
  if (count > 0) return
  newest.shouldKeepAlive = false
  newest.once('close', () => socket.destroySoon())
}

/** The number of dropped requests by connection. */
const dropped = new WeakMap<Socket, number>()
/**
 * The maximum number of dropped requests on a connection. A single read contains fewer, and after it the connection is
 * paused.
 */
const droppedMax = 4096

/**
 * Answers bytes that are not a request, and ends the connection. `code` is node:http's error code. A client that is too
 * slow gets no time for the rest of its request.
 */
export function answerUnreadable(socket: Socket, code: string | undefined): void {
  const hasBegun = owed.get(socket)?.some(({ destroyed, headersSent }) => !destroyed && headersSent) ?? false
  if (hasBegun || !socket.writable) return void socket.destroy()
  const status = unreadable.get(code ?? '') ?? '400 Bad Request'
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`)
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') socket.destroySoon()
  else dropRest(socket)
}

/**
 * Reads and drops the rest. Closing a connection with unread bytes resets it, and the client would lose the answer (RFC
 * 9112, 9.6).
 */
function dropRest(socket: Socket): void {
  // The parser of node:http would report each further chunk as an error.
  socket.removeAllListeners('data')
  // The time is absolute, because a client could send a byte again and again.
  const cut = setTimeout(() => socket.destroy(), dropMs)
  socket.once('close', () => clearTimeout(cut))
  socket.once('end', () => socket.destroy())
  socket.on('data', () => {})
  socket.resume()
}

/** The connection is cut after this time. */
const dropMs = 10_000

const unreadable: ReadonlyMap<string, string> = new Map([
  ['HPE_HEADER_OVERFLOW', '431 Request Header Fields Too Large'],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', '413 Payload Too Large'],
  ['ERR_HTTP_REQUEST_TIMEOUT', '408 Request Timeout'],
])

/**
 * A connection may owe at most this many responses. Before a response's bytes exist, only this number bounds the memory
 * for it.
 */
const answersMax = 16
/** The maximum number of unread bytes on a connection. A single response may be larger. */
const unwrittenBytesMax = 1024 * 1024

/**
 * Reports the connection's end to a response that waits behind another response. node:http reports the end only to the
 * response being written, so the later responses would wait for ever.
 */
function closeWith(socket: Socket, response: ServerResponse): void {
  const close = () => {
    if (response.socket !== null) return
    response.destroyed = true
    response.emit('close')
  }
  // Each response adds a listener. The limit on all requests bounds these listeners.
  socket.setMaxListeners(0)
  socket.once('close', close)
  response.once('close', () => socket.off('close', close))
}
