/**
 * A server with a prepared answer on each path, to test the common rules for clients' requests. The path's first part
 * names the answer. The server counts the requests for each answer.
 */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'

export type Received = { method: string; path: string; headers: IncomingHttpHeaders }
export type RuleServer = {
  url: string
  /** The requests for a prepared answer, in order. */
  received(answer: string): Received[]
  close(): Promise<void>
}

type Reply = (response: ServerResponse) => unknown

const json = { 'content-type': 'application/json' }
/** The longest JSON body for a client. */
const jsonBytesMax = 64 * 1024 * 1024
const models = '{"models":[]}'
/** The pause between two pieces of an answer that is slow but always sends. */
const pieceMs = 100
/** With its pauses this audio takes longer than the test programs' time limit for one read. */
const audioPieces = 15

const replies: Readonly<Record<string, Reply>> = {
  headers: (response) => response.writeHead(200, json).end('{"text":"Hi.","segments":[]}'),
  limited: refusal(429, 'rate_limited'),
  progress: refusal(409, 'request_in_progress'),
  broken: refusal(500, 'internal_error'),
  upstream: refusal(502, 'provider_error'),
  overloaded: refusal(503, 'overloaded'),
  late: refusal(504, 'provider_timeout'),
  final: refusal(503, 'overloaded', false),
  begun: refusal(502, 'provider_error', true, { 'x-should-retry': 'false' }),
  moved: (response) => response.writeHead(301, { location: '/elsewhere/' }).end(),
  other: (response) => response.writeHead(303, { location: '/elsewhere/' }).end(),
  temporary: (response) => response.writeHead(307, { location: '/elsewhere/' }).end(),
  reset: (response) => response.socket?.resetAndDestroy(),
  cut: (response) => response.writeHead(200, json).write('{"models"', () => response.socket?.resetAndDestroy()),
  page: (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>Welcome</p>'),
  gateway: (response) => response.writeHead(502, { 'content-type': 'text/html' }).end('<p>Bad gateway</p>'),
  text: (response) => response.writeHead(200, json).end('{"models":'),
  longest: (response) => response.writeHead(200, json).end(models.padStart(jsonBytesMax)),
  longer: (response) => response.writeHead(200, json).end(models.padStart(jsonBytesMax + 1)),
  silent: () => undefined,
  slow: (response) => pieces(response, 'application/json', ' ', Number.POSITIVE_INFINITY),
  audio: (response) => pieces(response, 'application/octet-stream', 'au', audioPieces),
  stalled: (response) => response.writeHead(200, { 'content-type': 'application/octet-stream' }).write('au'),
  paused: (response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': hello\n\n'),
}

export async function startRuleServer(): Promise<RuleServer> {
  const received = new Map<string, Received[]>()
  const server = createServer((request, response) => {
    const { method = '', url: path = '', headers } = request
    const answer = path.split('/')[1] ?? ''
    received.set(answer, [...(received.get(answer) ?? []), { method, path, headers }])
    request.resume().on('end', () => replies[answer]?.(response) ?? response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received: (answer) => received.get(answer) ?? [],
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** An error as the router API sends it. Its Retry-After is short, so that the test programs need not wait long. */
function refusal(status: number, code: string, retryable = true, more: Record<string, string> = {}): Reply {
  const error = { code, type: 'server_error', retryable, request_id: 'req_rules', message: 'No.', hint: 'Wait.' }
  return (response) =>
    response.writeHead(status, { ...json, 'retry-after': '0', ...more }).end(JSON.stringify({ error }))
}

async function pieces(response: ServerResponse, type: string, piece: string, count: number): Promise<void> {
  response.writeHead(200, { 'content-type': type })
  for (let sent = 0; sent < count && !response.destroyed; sent++) {
    await setTimeout(pieceMs)
    response.write(piece)
  }
  response.end()
}
