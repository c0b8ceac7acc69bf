/** A small API with sockets, and the `ws` package as an independent client. */
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { type ClientOptions, WebSocket } from 'ws'
import type { Channel, SocketSurface } from '../../runtime/engine/channel.ts'
import type { SocketMount } from '../../runtime/engine/options.ts'
import type {
  FrameProblem,
  Socket,
  SocketContext,
  SocketHandler,
  SocketSession,
  UpgradeRequest,
} from '../../runtime/engine/socket.ts'
import { mount as createMount, faults, operation, type Served, start, surface, validator } from '../http/harness.ts'

const frame = (type: string, more: object = {}, required: string[] = []) =>
  validator({
    type: 'object',
    additionalProperties: false,
    required: ['type', ...required],
    properties: { type: { const: type }, ...more },
  })

export function channel(more: Partial<Channel> = {}): Channel {
  return {
    id: 'talk',
    address: '/v1/talk',
    scope: 'realtime',
    role: 'member',
    subprotocol: 'service.realtime.v1',
    requiresSubprotocol: true,
    credentialPrefix: 'service.ephemeral.',
    receives: {
      config: {
        on: 'config',
        validate: frame('config', { rate: { type: 'integer' }, mode: { enum: ['a', 'b'], default: 'a' } }, ['rate']),
      },
      flush: { on: 'flush', validate: frame('flush') },
    },
    acceptsBinary: true,
    sends: { said: frame('said', { text: { type: 'string' } }, ['text']) },
    ...more,
  }
}

/** Records the method calls that a session gets from the WebSocket engine. A test can replace these methods. */
export class Recorder implements SocketSession {
  readonly socket: Socket
  readonly context: SocketContext
  readonly events: unknown[] = []
  constructor(socket: Socket, context: SocketContext) {
    this.socket = socket
    this.context = context
  }
  config(value: unknown) {
    this.events.push(value)
  }
  flush() {
    this.events.push('flush')
  }
  onRefused(problem: FrameProblem) {
    this.events.push(problem)
  }
  onBytes(bytes: Uint8Array) {
    this.events.push(Buffer.from(bytes))
  }
  onDrained() {
    this.events.push('drained')
  }
  onSlowReader() {
    this.events.push('slow')
  }
  onShutdown() {
    this.events.push('shutdown')
  }
  onGone() {
    this.events.push('gone')
  }
}

export type SocketServer = Served & { wsUrl: string; sessions: Recorder[]; asked: UpgradeRequest[]; closed: number[] }

type Wanted = {
  channels?: Channel[]
  mount?: Partial<SocketMount>
  more?: SocketMount[]
  session?: (socket: Socket, context: SocketContext) => Recorder
  options?: Parameters<typeof start>[1]
}

export async function serve({
  channels = [channel()],
  mount,
  more = [],
  session,
  options,
}: Wanted = {}): Promise<SocketServer> {
  const sessions: Recorder[] = []
  const asked: UpgradeRequest[] = []
  const closed: number[] = []
  const handler: SocketHandler = (socket, context) => {
    const made = session ? session(socket, context) : new Recorder(socket, context)
    sessions.push(made)
    return made
  }
  const surface: SocketSurface = { name: 'realtime', channels }
  const sockets: SocketMount[] = [
    {
      surface,
      basePath: '',
      host: null,
      handlers: Object.fromEntries(channels.map(({ id }) => [id, handler])),
      admit: (request) => {
        asked.push(request)
        return { name: 'caller' }
      },
      writeFault: faults('realtime'),
      ...mount,
    },
    ...more,
  ]
  const metrics = {
    request: () => {},
    inflight: () => {},
    socketOpened: () => {},
    socketClosed: (_channel: string, code: number) => void closed.push(code),
  }
  const server = await start([createMount(plain, { ping: () => ({ status: 200, body: 'pong' }) })], {
    sockets,
    metrics,
    ...options,
  })
  return Object.assign(server, { wsUrl: `ws://127.0.0.1:${server.port}`, sessions, asked, closed })
}

const plain = surface('plain', operation('ping', 'get', '/v1/ping'))

export const protocol = 'service.realtime.v1'

/** Opens a client. Resolves when its socket is open. */
export async function open(url: string, protocols: string | string[] = protocol, options: ClientOptions = {}) {
  const client = new WebSocket(url, protocols, { perMessageDeflate: false, ...options })
  await once(client, 'open')
  return client
}

export type Refused = { status: number; headers: IncomingMessage['headers']; body: Record<string, unknown> }

/** Resolves with the answer to a refused upgrade. */
export function refused(url: string, protocols: string | string[] = protocol, options: ClientOptions = {}) {
  return new Promise<Refused>((resolve, reject) => {
    const client = new WebSocket(url, protocols, options)
    client.on('open', () => reject(new Error('it opened')))
    client.on('error', reject)
    client.on('unexpected-response', (request, response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => {
        request.destroy()
        const body = JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body })
      })
    })
  })
}

export async function closing(client: WebSocket): Promise<{ code: number; reason: string }> {
  const [code, reason] = (await once(client, 'close')) as [number, Buffer]
  return { code, reason: reason.toString() }
}

export async function nextText(client: WebSocket): Promise<string> {
  const [data] = (await once(client, 'message')) as [Buffer]
  return data.toString()
}
