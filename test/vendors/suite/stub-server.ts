/**
 * The shared parts of all vendors' stub servers: one port on 127.0.0.1 for HTTP and sockets, the record of requests,
 * and the ways to break a connection. A vendor's stub adds only the protocol: `http` answers a request, `refuseUpgrade`
 * and `socket` play its sockets.
 */
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import type { Cell, SeenRequest, VendorStub } from './matrix.ts'

export type StubOptions = {
  /** Called after the whole body has come. */
  http?: (request: SeenRequest, response: ServerResponse, cell: Cell) => void | Promise<void>
  /**
   * Called before a socket opens. Null: it opens. `hang`: the upgrade is never answered. If absent, `refusals` decides
   * by the test case.
   */
  refuseUpgrade?: (request: SeenRequest, cell: Cell) => Refusal | 'hang' | null
  socket?: (socket: StubSocket, request: SeenRequest, cell: Cell) => void
  /** The agreed subprotocol. If absent, the first offered one. */
  protocol?: string
  /** The certificate, for SDKs that require https and wss: see tls.ts. */
  tls?: { key: string; cert: string }
}

export type Refusal = { status: number; headers?: Readonly<Record<string, string>>; body?: object | string }

/** One open socket of a stub. Messages are written into `SeenRequest` before the listener gets them. */
export interface StubSocket {
  /** The listener is called for each message. It must be set once, when the socket opens. */
  listen(listener: { text?: (text: string) => void; binary?: (bytes: Buffer) => void; closed?: () => void }): void
  /** Sends bytes as a binary frame, a string unchanged, any other value as JSON. */
  send(message: object | string | Uint8Array): void
  close(code?: number, reason?: string): void
  /** Ends the connection without a close frame. */
  cut(): void
  /** Sends a TCP reset. */
  reset(): void
}

/** How long the stub waits in the test case `slow_first_byte`, after a message that does not count as media. */
export const slowMs = 400

/** The status and headers for each test case with a refusal. The body depends on the vendor. */
export const refusals: Partial<Record<Cell, Refusal>> = {
  auth: { status: 401 },
  quota: { status: 402 },
  rate_limited: { status: 429, headers: { 'retry-after': '7' } },
  rate_limited_bare: { status: 429 },
  overloaded: { status: 503 },
  server: { status: 500 },
  bad_request: { status: 400 },
}

export async function startStub(options: StubOptions): Promise<VendorStub> {
  let cell: Cell = 'ok'
  const seen: SeenRequest[] = []
  const connections = new Set<Socket>()
  let ended = 0
  const server = options.tls ? createTlsServer(options.tls) : createServer()
  server.on('connection', (socket: Socket) => {
    connections.add(socket)
    socket.on('error', ignore)
    socket.once('close', () => {
      connections.delete(socket)
      ended++
    })
  })
  server.on('request', (incoming: IncomingMessage, response: ServerResponse) => {
    void receive(incoming)
      .then((request) => {
        seen.push(request)
        return options.http ? options.http(request, response, cell) : void sendJson(response, {}, { status: 404 })
      })
      .catch(() => response.destroy())
  })
  const sockets = new WebSocketServer({
    noServer: true,
    handleProtocols: (offered) => options.protocol ?? [...offered][0] ?? false,
  })
  server.on('upgrade', (incoming: IncomingMessage, duplex: Duplex, head: Buffer) => {
    const request = describe(incoming)
    seen.push(request)
    const playing = cell
    const refusal = options.refuseUpgrade ? options.refuseUpgrade(request, playing) : (refusals[playing] ?? null)
    // After a refused upgrade the data must be read, because otherwise its end is not noticed.
    if (refusal !== null) duplex.once('end', () => duplex.end()).resume()
    if (refusal === 'hang') return
    if (refusal || !options.socket) return refuse(duplex, refusal ?? { status: 404 })
    sockets.handleUpgrade(incoming, duplex, head, (socket) =>
      options.socket?.(stubSocket(socket, incoming.socket, request), request, playing),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `${options.tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    behave(next) {
      cell = next
      seen.length = 0
      ended = 0
    },
    seen,
    get openSockets() {
      return connections.size
    },
    get endedSockets() {
      return ended
    },
    close: async () => {
      for (const socket of connections) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Waits until the written data has left, so the client gets a beginning. */
export function resetSoon(response: ServerResponse): void {
  setTimeout(() => response.socket && resetNow(response.socket), 20)
}

/** Ends the connection in the middle of a body, after the written data has left. */
export function cutSoon(response: ServerResponse): void {
  setTimeout(() => response.socket?.destroySoon(), 20)
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/**
 * Sends a JSON answer, and plays `ok`, `cut`, `reset` and `garbage`. In any other test case the answer is sent whole.
 */
export function sendJson(
  response: ServerResponse,
  value: unknown,
  { status = 200, headers = {} }: Partial<Refusal> = {},
  cell?: Cell,
): void {
  const text = cell === 'garbage' ? '{"text": "tr' : JSON.stringify(value)
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    ...headers,
  })
  if (cell !== 'cut' && cell !== 'reset') return void response.end(text)
  response.write(text.slice(0, 10))
  if (cell === 'reset') resetSoon(response)
  else cutSoon(response)
}

/** Sends one server-sent event in a separate packet. */
export async function sendEvent(response: ServerResponse, data: object | string, event?: string): Promise<void> {
  if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' })
  const text = typeof data === 'string' ? data : JSON.stringify(data)
  response.write(`${event === undefined ? '' : `event: ${event}\n`}data: ${text}\n\n`)
  await new Promise(setImmediate)
}

/** Returns `samples` of a 440 Hz sine, s16le mono. */
export function sinePcm(samples: number, sampleRateHz: number): Buffer {
  const audio = Buffer.alloc(samples * 2)
  for (let i = 0; i < samples; i++)
    audio.writeInt16LE(Math.round(8000 * Math.sin((2 * Math.PI * 440 * i) / sampleRateHz)), i * 2)
  return audio
}

/**
 * Cuts audio into pieces with an even byte count. In `half_sample` the count is odd, so pieces are not aligned to
 * samples.
 */
export function pieces(audio: Uint8Array, cell: Cell): Uint8Array[] {
  const bytes = cell === 'half_sample' ? 577 : 960
  return Array.from({ length: Math.ceil(audio.length / bytes) }, (_, i) => audio.subarray(i * bytes, (i + 1) * bytes))
}

/**
 * A stub's transcript of samples: a digest, which shows lost or doubled audio. It is empty for digital silence. It has
 * two words, so it can come in parts.
 */
export function transcriptOf(samples: Uint8Array): string {
  if (samples.every((byte) => byte === 0)) return ''
  return `heard ${createHash('sha256').update(samples).digest('hex').slice(0, 16)}`
}

/** The samples in a WAV file; any other content as it is. */
export function samplesOf(file: Buffer): Buffer {
  if (file.toString('latin1', 0, 4) !== 'RIFF') return file
  const at = file.indexOf('data', 12, 'latin1')
  return file.subarray(at + 8, at + 8 + file.readUInt32LE(at + 4))
}

async function receive(incoming: IncomingMessage): Promise<SeenRequest> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk as Buffer)
  return { ...describe(incoming), body: Buffer.concat(chunks) }
}

function describe({ method = '', url = '', headers }: IncomingMessage): SeenRequest {
  const flat = Object.entries(headers).map(([name, value]) => [name, String(value)])
  const none = Buffer.alloc(0)
  return {
    method,
    path: url,
    headers: Object.fromEntries(flat) as Record<string, string>,
    body: none,
    texts: [],
    audio: none,
  }
}

function refuse(duplex: Duplex, { status, headers = {}, body = '' }: Refusal): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const all = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    connection: 'close',
    ...headers,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  duplex.end(`HTTP/1.1 ${status} Refused\r\n${lines.join('')}\r\n${text}`)
}

function stubSocket(socket: WebSocket, connection: Socket, request: SeenRequest): StubSocket {
  socket.on('error', ignore)
  // True once the stub is about to break the connection. From then on it sends and receives nothing more.
  let isBroken = false
  const breakWith = (run: () => void) => {
    isBroken = true
    run()
  }
  return {
    listen: ({ text, binary, closed }) => {
      socket.on('message', (data: Buffer, isBinary: boolean) => {
        if (isBroken) return
        if (isBinary) {
          request.audio = Buffer.concat([request.audio, data])
          binary?.(data)
        } else {
          request.texts.push(data.toString())
          text?.(data.toString())
        }
      })
      if (closed) socket.once('close', closed)
    },
    send: (message) => {
      if (isBroken) return
      if (message instanceof Uint8Array) socket.send(message, { binary: true })
      else socket.send(typeof message === 'string' ? message : JSON.stringify(message))
    },
    close: (code, reason) => breakWith(() => socket.close(code, reason)),
    cut: () => breakWith(() => void connection.destroySoon()),
    reset: () => breakWith(() => void setTimeout(() => resetNow(connection), 20)),
  }
}

/** Under TLS this code cannot send a reset, so it cuts the connection without a close frame. */
function resetNow(connection: Socket): void {
  if ('encrypted' in connection) connection.destroy()
  else connection.resetAndDestroy()
}

/** Ignores errors, because a stub breaks connections on purpose. */
const ignore = () => {}
