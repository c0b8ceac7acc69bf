/**
 * A proxy before the server with a fault on each path. The path after the fault's name goes to the server.
 *
 *   /busy/…    the first request is answered 429 with Retry-After: 1
 *   /reset/…   the answer's connection is reset after the first event
 *   /short/…   the answer ends without an error after the first event
 *   /silent/…  there is never an answer
 *
 * `/sent/silent` is answered as soon as a request has come to `/silent`, so that a program cancels a sent request.
 */
import { EventEmitter } from 'node:events'
import { createServer, request as forward, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Seen = { path: string; atMs: number; idempotencyKey: string | undefined }
export type Faults = {
  url: string
  /** The requests to the path of this fault, in order. */
  seen(fault: string): Seen[]
  close(): Promise<void>
}

export async function startFaults(serverUrl: string): Promise<Faults> {
  const seen: Seen[] = []
  const arrivals = new EventEmitter()
  const ofFault = (fault: string) => seen.filter(({ path }) => path.startsWith(`/${fault}/`))
  const server = createServer((request, response) => {
    const { url: path = '', headers } = request
    seen.push({ path, atMs: performance.now(), idempotencyKey: headers['idempotency-key']?.toString() })
    const [, fault = '', rest = ''] = /^\/(\w+)(\/.*)$/.exec(path) ?? []
    if (fault === 'silent') return void arrivals.emit(fault)
    if (fault === 'sent') return answerAfter(rest.slice(1), response)
    if (fault === 'busy' && ofFault(fault).length === 1) return refuse(request, response)
    relay(new URL(rest, serverUrl), request, response, fault)
  })
  const answerAfter = (fault: string, response: ServerResponse) => {
    if (ofFault(fault).length > 0) response.end()
    else arrivals.once(fault, () => response.end())
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen: ofFault,
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

/** Answers as the router API does if an API key sends too many requests. */
function refuse(request: IncomingMessage, response: ServerResponse): void {
  const error = {
    ...{ code: 'rate_limited', type: 'rate_limit_error', retryable: true, request_id: 'req_scenario' },
    ...{ message: 'There are too many requests.', hint: 'Wait for Retry-After.' },
  }
  request.resume()
  request.on('end', () => {
    response.writeHead(429, { 'content-type': 'application/json', 'retry-after': '1' })
    response.end(JSON.stringify({ error }))
  })
}

function relay(url: URL, request: IncomingMessage, response: ServerResponse, fault: string): void {
  const { method, headers } = request
  const asked = forward(url, { method, headers: { ...headers, host: url.host } }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers)
    if (fault === 'busy') return void answer.pipe(response)
    const end = () => (fault === 'reset' ? response.socket?.resetAndDestroy() : response.end())
    answer.once('data', (first: Buffer) => {
      answer.destroy()
      response.write(first.subarray(0, first.indexOf('\n\n') + 2), end)
    })
  })
  asked.on('error', () => response.destroy())
  request.pipe(asked)
}
