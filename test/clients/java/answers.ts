/** Servers that misbehave. The first part of a request's path names the fault. */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import { type WebSocket, WebSocketServer } from 'ws'

export type Seen = { name: string; headers: IncomingHttpHeaders; body: string }
type Answer = (response: ServerResponse, seen: Seen, earlier: number) => void

const error = (code: string) =>
  JSON.stringify({ error: { code, type: 'api_error', message: 'No.', hint: 'Wait.', retryable: true } })
const refusal =
  (status: number, code: string): Answer =>
  (response) =>
    void response.writeHead(status, { 'content-type': 'application/json', 'retry-after': '0' }).end(error(code))
const json =
  (value: object): Answer =>
  (response) =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value))
const events =
  (text: string): Answer =>
  (response) =>
    void response.writeHead(200, { 'content-type': 'text/event-stream' }).write(text)

const event = (id: string, name: string, data: object) => `id: ${id}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`
const first = event('0:0', 'status', { status: 'active' }) + event('1:0', 'transcript', { index: 0, text: 'a' })
const second = event('1:0', 'transcript', { index: 0, text: 'a' }) + event('2:0', 'transcript', { index: 1, text: 'b' })
const busy = refusal(429, 'rate_limited')

const answers: Readonly<Record<string, Answer>> = {
  ...{ busy, key: busy, header: busy, file: busy, stream: busy },
  conflict: refusal(409, 'request_in_progress'),
  post: refusal(500, 'service_unavailable'),
  get: refusal(500, 'service_unavailable'),
  hinted: refusal(500, 'relay_error'),
  redirect: (response) => void response.writeHead(302, { location: '/page/' }).end(),
  cut: (response) => {
    response.writeHead(200, { 'content-length': '100' }).write('{', () => response.destroy())
  },
  dropped: (response, seen, earlier) => {
    if (earlier === 0) json({ models: [] })(response, seen, earlier)
    else response.destroy()
  },
  page: (response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
  unknown: json({ models: [{ kind: 'video', provider: 'new', more: 1 }] }),
  split: events(
    '\ufeff: comment\r\rid: 7\rdata: {"delta":\rdata: "ü"}\revent: response.text.delta\r\rid: 8\r\nevent: response.completed\r\ndata: {}\r\n\r\n',
  ),
  resumed: (response, seen, earlier) => {
    events(earlier === 0 ? first : second + event('2:0', 'end', { reason: 'session_ended' }))(response, seen, earlier)
    if (earlier === 0) response.end()
  },
  slow: events(first),
  cancelled: (response, seen, earlier) => {
    if (earlier === 0) events(first)(response, seen, earlier)
    else response.writeHead(404)
    response.end()
  },
  reset: (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(event('7', 'response.text.delta', { delta: 'a' }), () => response.socket?.resetAndDestroy())
  },
  null: json({ name: 'a' }),
  ascii: json({ text: 'heard' }),
}

/** Returns the server's URL, and the requests received for a fault. */
export async function startAnswers(t: Test): Promise<{ url: string; seen(name: string): Seen[] }> {
  const all: Seen[] = []
  const ofName = (name: string) => all.filter((seen) => seen.name === name)
  const server = createServer((request: IncomingMessage, response) => {
    const name = request.url?.split('/')[1] ?? ''
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      const earlier = ofName(name).length
      const seen = { name, headers: request.headers, body: Buffer.concat(pieces).toString() }
      all.push(seen)
      answers[name]?.(response, seen, earlier)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    return new Promise<void>((resolve) => server.close(() => resolve()))
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen: ofName }
}

const sockets: Readonly<Record<string, (socket: WebSocket) => void>> = {
  normal: (socket) => socket.send('{"type":"new"}', () => socket.close(1000)),
  going: (socket) => socket.close(1001, 'SHUTTING_DOWN'),
  nameless: (socket) => socket.close(),
  lost: (socket) => socket.terminate(),
  junk: (socket) => socket.send('junk'),
}

/** Returns a server's URL. Its sockets end in several ways, and it refuses all other paths. */
export async function startSockets(t: Test): Promise<string> {
  const nameOf = ({ url }: IncomingMessage) => url?.split('/')[1] ?? ''
  const verifyClient = ({ req }: { req: IncomingMessage }) => sockets[nameOf(req)] !== undefined
  const handleProtocols = (offered: Set<string>) => (offered.has('acme.realtime.v1') ? 'acme.realtime.v1' : false)
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', verifyClient, handleProtocols })
  server.on('connection', (socket, request) => sockets[nameOf(request)]?.(socket))
  await new Promise((resolve) => server.once('listening', resolve))
  t.teardown(() => {
    for (const socket of server.clients) socket.terminate()
    return new Promise<void>((resolve) => server.close(() => resolve()))
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
