/**
 * A server for several organizations, and clients that send unfinished bodies. The API key is the name of the
 * organization.
 */
import net from 'node:net'
import type { Test } from 'tap'
import type { Handlers, Result } from '../../runtime/engine/handler.ts'
import type { ServerOptions } from '../../runtime/engine/options.ts'
import { Owners } from '../../runtime/shares/owners.ts'
import { TestClock } from '../clock.ts'
import { jsonBody, mount, operation, type Served, start, surface } from '../http/harness.ts'
import { wholeProcess } from '../time/quiet.ts'

const bytesBody = { ...jsonBody, types: ['application/octet-stream'], limit: 'audio' as const }
const operations = [
  operation('take', 'post', '/v1/take', { scope: 'llm', body: jsonBody }),
  operation('upload', 'post', '/v1/upload', { scope: 'stt', body: bytesBody }),
  operation('hold', 'post', '/v1/hold', { scope: 'llm', body: bytesBody }),
  operation('webhook', 'post', '/v1/webhook', { body: jsonBody }),
]

export type Crowd = Served & {
  clock: TestClock
  /** The functions that answer the waiting requests to `hold`. */
  held: (() => void)[]
}

type Wanted = { areSeveral: boolean; limits: Partial<ServerOptions['limits']> } & Partial<
  Pick<ServerOptions, 'authenticate'>
>

export async function crowd(t: Test, { areSeveral, limits, ...more }: Wanted): Promise<Crowd> {
  const held: (() => void)[] = []
  const handlers: Handlers = {
    take: ({ body }) => ({ status: 200, body }),
    upload: ({ body }) => ({ status: 200, body: (body as { bytes: number }).bytes }),
    hold: () => new Promise<Result>((resolve) => held.push(() => resolve({ status: 200, body: 'held' }))),
    webhook: ({ body }) => ({ status: 200, body }),
  }
  const clock = new TestClock({ quiet: wholeProcess })
  const shares = { owners: new Owners(areSeveral), part: 0.25, ownerOf: String, admitBody: () => null }
  const authenticate = ({ authorization }: { authorization: string }) => {
    shares.owners.see(authorization)
    return authorization
  }
  const server = await start([mount(surface('main', ...operations), handlers)], {
    clock,
    shares,
    authenticate,
    limits,
    ...more,
  })
  t.teardown(() => clock.during(server.stop()))
  return Object.assign(server, { clock, held })
}

type Begun = { type?: string; bytes?: number; sent?: string | Buffer }

type Slow = { socket: net.Socket; text: string; isClosed: boolean }

/** Sends a head and the first part of a body with `bytes` bytes. */
export function beginBody(
  { port }: Served,
  path: string,
  key: string,
  { type = 'application/json', bytes = 1000, sent = '{' }: Begun = {},
): Slow {
  const socket = net.connect(port, '127.0.0.1').on('error', () => {})
  const slow: Slow = { socket, text: '', isClosed: false }
  socket.on('data', (chunk) => (slow.text += chunk.toString()))
  socket.on('close', () => (slow.isClosed = true))
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: ${key}\r\nContent-Type: ${type}\r\nContent-Length: ${bytes}\r\n\r\n`,
  )
  socket.write(sent)
  return slow
}

/** Sends a whole request. Resolves with its status. */
export async function post(
  { url }: Served,
  path: string,
  key: string,
  body: string | Buffer = '{}',
  type = 'application/json',
): Promise<number> {
  const headers = { authorization: key, 'content-type': type, connection: 'close' }
  const answer = await fetch(url + path, { method: 'POST', headers, body })
  await answer.arrayBuffer()
  return answer.status
}

/** Sends whole requests one after another. Resolves with their statuses. */
export async function posts(server: Served, path: string, key: string, count: number): Promise<number[]> {
  const statuses: number[] = []
  for (let i = 0; i < count; i++) statuses.push(await post(server, path, key))
  return statuses
}

export const answered = (clients: readonly Slow[]) => clients.filter(({ text }) => text.includes('\r\n\r\n'))
