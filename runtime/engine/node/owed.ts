/**
 * Whether an answer is still to be written to a connection. node:http writes answers in the order of their requests, so
 * the newest tells: it is closed when the connection is free again.
 */
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

const newest = new WeakMap<Socket, ServerResponse>()

/** Every request that is taken must be named here. */
export function oweAnswer(socket: Socket, response: ServerResponse): void {
  newest.set(socket, response)
}

export function owesAnswer(socket: Socket): boolean {
  // node:http destroys a response when it is written or its connection has ended.
  return newest.get(socket)?.destroyed === false
}
