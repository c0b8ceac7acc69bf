/**
 * A server with a prepared answer on each path, for the client in Python. The server counts the requests for each path.
 */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Request = { headers: IncomingHttpHeaders; body: string }

const json = { 'content-type': 'application/json' }
const stream = { 'content-type': 'text/event-stream' }
const busy = JSON.stringify({ error: { code: 'rate_limited', type: 'rate_limit_error', retryable: true } })
const completed = 'event: response.completed\ndata: {}\n\n'
/** The client's limits under test. */
const eventBytesMax = 16 * 1024 * 1024
const errorBytesMax = 64 * 1024

/** The prepared answers, by the first part in the request's path. */
const answers: Readonly<Record<string, (response: ServerResponse, body: string) => void>> = {
  transcribed: (response, text) => response.writeHead(200, json).end(JSON.stringify({ text, segments: [] })),
  later: (response) => response.writeHead(429, { ...json, 'retry-after': '0' }).end(busy),
  tomorrow: (response) => response.writeHead(429, { ...json, 'retry-after': '61' }).end(busy),
  refused: (response) =>
    response
      .writeHead(404, { ...json, 'retry-after': '0' })
      .end(JSON.stringify({ error: 'There is no such call.', code: 'NOT_FOUND', requestId: 'req_1' })),
  platform: (response) =>
    response
      .writeHead(429, { ...json, 'retry-after': '0' })
      .end(JSON.stringify({ error: 'Busy.', code: 'RATE_LIMITED' })),
  gateway: (response) => response.writeHead(502, { 'content-type': 'text/html' }).end('<p>Bad gateway</p>'),
  endless: (response) => response.writeHead(500, json).end(`{"error": {"code": "${'x'.repeat(errorBytesMax)}"}}`),
  unknown: (response) =>
    response.writeHead(200, json).end(JSON.stringify({ models: [{ kind: 'video', provider: 'new', more: 1 }] })),
  page: (response) => response.writeHead(200, json).end('<p>Welcome</p>'),
  split: (response) => {
    const text = 'a\u2028b\u0085c ü'
    const bytes = Buffer.from(
      `: comment\r\nid: 7\r\nevent: response.text.delta\r\ndata: {"delta":\r\ndata: "${text}"}\r\n\r\n${completed}`,
    )
    response.writeHead(200, stream)
    // Each byte is sent as one chunk, so chunks end inside of characters, lines and line ends.
    for (const byte of bytes) response.write(Buffer.of(byte))
    response.end()
  },
  after: (response) => response.writeHead(200, stream).end(`${completed}event: response.text.delta\ndata: {}\n\n`),
  large: (response) => {
    response.writeHead(200, stream).write(`data: "${'x'.repeat(eventBytesMax)}"`)
  },
  failed: (response) => response.writeHead(200, stream).end(`data: ${busy}\n\n`),
}

export async function startAnswers() {
  const requests = new Map<string, Request[]>()
  const server = createServer((request, response) => {
    const name = request.url?.split('/')[1] ?? ''
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const seen = { headers: request.headers, body: Buffer.concat(chunks).toString('latin1') }
      requests.set(name, [...(requests.get(name) ?? []), seen])
      answers[name]?.(response, seen.body)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: (name: string) => requests.get(name) ?? [],
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
