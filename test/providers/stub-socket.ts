/** A WebSocket server. It answers upgrades as the test requires, and echoes all messages. */
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'

export type Upgrading = { request: IncomingMessage; socket: Duplex; accept: () => void }

export class StubSocket {
  /** All upgrade requests. */
  readonly asked: IncomingMessage[] = []
  /** The accepted sockets, oldest first. */
  readonly accepted: WebSocket[] = []
  /** Each accepted socket's received messages. */
  readonly received: string[][] = []
  /** Answers an upgrade. A test may replace it. */
  upgrade: (upgrading: Upgrading) => void = ({ accept }) => accept()
  /** Answers a message. A test may replace it. */
  answer: (socket: WebSocket, data: Buffer, isBinary: boolean) => void = (socket, data, binary) =>
    socket.send(data, { binary })
  greeting: string[] = []
  readonly #connections = new Set<Duplex>()
  readonly #server = createServer()
  readonly #sockets = new WebSocketServer({ noServer: true, perMessageDeflate: true })

  static async start(): Promise<StubSocket> {
    const stub = new StubSocket()
    await new Promise<void>((resolve) => stub.#server.listen(0, '127.0.0.1', resolve))
    return stub
  }

  constructor() {
    this.#server.on('connection', (socket) => {
      this.#connections.add(socket)
      socket.on('error', () => {})
      socket.once('close', () => this.#connections.delete(socket))
    })
    this.#server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      this.asked.push(request)
      // Even if it answers nothing, the server must read from the socket, because only a read shows that the client has
      // gone.
      const leave = () => socket.destroy()
      socket.resume().once('end', leave)
      const accept = () => {
        socket.off('end', leave)
        if (!socket.destroyed) this.#sockets.handleUpgrade(request, socket, head, (ws) => this.#accept(ws))
      }
      this.upgrade({ request, socket, accept })
    })
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  get url(): string {
    return `ws://127.0.0.1:${this.port}`
  }

  /** Counts the open connections. */
  get open(): number {
    return this.#connections.size
  }

  async close(): Promise<void> {
    for (const socket of this.#connections) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #accept(ws: WebSocket): void {
    const received: string[] = []
    this.received.push(received)
    this.accepted.push(ws)
    ws.on('error', () => {})
    ws.on('message', (data, isBinary) => {
      received.push(isBinary ? `${(data as Buffer).length} bytes` : (data as Buffer).toString())
      this.answer(ws, data as Buffer, isBinary)
    })
    for (const text of this.greeting) ws.send(text)
  }
}

/** Collects a socket's events as lines. `done` resolves when the socket ends. */
export function transcript() {
  const lines: string[] = []
  let end: (line: string) => void
  const done = new Promise<string>((resolve) => {
    end = resolve
  })
  return {
    lines,
    done,
    text: (text: string) => void lines.push(text),
    binary: (bytes: Uint8Array) => void lines.push(`${bytes.length} bytes`),
    closed(code: number, reason: string) {
      lines.push(`closed ${code} ${reason}`.trimEnd())
      end(lines.at(-1) as string)
    },
  }
}

export const delay = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

export async function until(holds: () => boolean, what = 'what was waited for'): Promise<void> {
  const limitMs = performance.now() + 10_000
  while (!holds()) {
    if (performance.now() > limitMs) throw new Error(`${what} did not come`)
    await delay(2)
  }
}

export async function failure(work: Promise<unknown>): Promise<Error> {
  const error: unknown = await work.then(
    () => new Error('it succeeded'),
    (error: unknown) => error,
  )
  return error as Error
}
