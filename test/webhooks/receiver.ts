/** A server for deliveries, with answers set by the test. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Received = { path: string; headers: IncomingHttpHeaders; body: Buffer }
export type Receiver = { url: string; port: number; received: Received[]; close(): Promise<void> }

/** The test's answer to the delivery with this number, counted from 1. */
export type Answer = (response: ServerResponse, received: Received, count: number) => void

export const ok: Answer = (response) => response.writeHead(204).end()

export const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  (response) =>
    response.writeHead(code, headers).end()

/** Gives these answers in order, and the last one from then on. */
export function inOrder(...answers: [Answer, ...Answer[]]): Answer {
  return (response, received, count) => (answers[count - 1] ?? answers.at(-1) ?? ok)(response, received, count)
}

export async function startReceiver(answer: Answer = ok, port = 0): Promise<Receiver> {
  const received: Received[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const one = { path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks) }
      received.push(one)
      answer(response, one, received.length)
    })
    request.on('error', () => {})
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const address = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${address.port}/hook`,
    port: address.port,
    received,
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}
