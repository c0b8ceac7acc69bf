/** The connections in attacks: how many are open, and the HTTP request heads that they send. */
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { WebSocket } from 'ws'
import type { World } from './world.ts'

const refillMs = 200

type Pace = {
  /** The pause after 50 sockets are opened. */
  pauseMs: number
  /**
   * After opening a socket, the attacker waits for half to all of this time, at random, before it replaces the socket.
   * So if the server refuses sockets at once, the new sockets do not become a flood.
   */
  lifeMs: number
}

/** Keeps this many sockets open. If the server closes a socket, a new socket takes its place a little later. */
export async function keepOpen(
  count: number,
  open: (at: number) => Socket | WebSocket,
  { pauseMs, lifeMs }: Pace = { pauseMs: 20, lifeMs: 0 },
): Promise<void> {
  const refill = (at: number) => {
    // The random part spreads the new attempts after refusals. Otherwise they would all come in one burst.
    const nextMs = performance.now() + lifeMs * (0.5 + Math.random() / 2)
    const socket = open(at)
    socket.on('error', () => {})
    socket.once('close', () => setTimeout(() => refill(at), Math.max(refillMs, nextMs - performance.now())))
  }
  for (let opened = 0; opened < count; opened++) {
    refill(opened)
    if (opened % 50 === 49) await sleep(pauseMs)
  }
}

export function open({ url }: World): Socket {
  const { hostname, port } = new URL(url)
  return connect({ host: hostname, port: Number(port) })
}

/** Writes the request line and the headers of a POST with the hostile organization's key. */
export function headOf({ hostile }: World, path: string, bytes: number, type = 'application/json'): string {
  const lines = [
    `POST ${path} HTTP/1.1`,
    'Host: parley',
    `Authorization: Bearer ${hostile.key}`,
    `Content-Type: ${type}`,
    `Content-Length: ${bytes}`,
  ]
  return `${lines.join('\r\n')}\r\n\r\n`
}
