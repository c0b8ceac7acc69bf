import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Engine } from '../../http/engine.ts'
import { Watch } from '../../timing/watch.ts'
import { Echo, echoBytesMax } from '../echo.ts'
import { upgrade } from '../upgrade.ts'
import { owesAnswer } from './owed.ts'
import { NodeSocket, type SocketLimits } from './socket.ts'
import { NodeUpgradeTransport, withoutUpgrade } from './upgrade.ts'

/** The connections detached from node:http, because their clients asked to open a socket. */
export class UpgradedConnections {
  readonly #engine: Engine
  readonly #connections = new Set<Socket>()
  readonly #silent: Watch<NodeSocket>
  readonly #limits: SocketLimits

  constructor(engine: Engine, server: Server) {
    const { limits, clock } = engine.options
    this.#engine = engine
    const silenceMs = limits.pingS * 1000
    this.#limits = { messageBytesMax: limits.frameBytesMax, piecesMax, silenceMs }
    this.#silent = new Watch(clock, Math.min(silenceMs / 8, lookEveryMsMax), (socket, nowMs) => socket.look(nowMs))
    server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) =>
      withoutThrowing(engine, socket, () => this.#take(server, request, socket, head)),
    )
  }

  close(): void {
    for (const connection of this.#connections) connection.destroy()
    this.#silent.stop()
  }

  #take(server: Server, request: IncomingMessage, socket: Socket, head: Buffer): void {
    // If an earlier response on this connection is still owed, it would be written between the frames, or never. So the
    // connection is closed. uWebSockets.js closes it only while an earlier request is being served, but here a response
    // may be owed even if its request was served at once.
    if (owesAnswer(socket)) return void socket.destroy()
    const path = request.url?.split('?', 1)[0] ?? ''
    if (this.#engine.options.echo && path === '/') this.#openEcho(request, socket, head)
    else if (asksForSocket(this.#engine, request, path)) this.#open(request, socket, head)
    else serveWithoutUpgrade(server, request, socket, head)
  }

  #open(request: IncomingMessage, socket: Socket, head: Buffer): void {
    this.#keep(socket)
    void upgrade(this.#engine, new NodeUpgradeTransport(request, socket, head, this.#limits, this.#silent))
  }

  #openEcho(request: IncomingMessage, socket: Socket, head: Buffer): void {
    this.#keep(socket)
    const limits = { ...this.#limits, messageBytesMax: echoBytesMax, piecesMax: echoPiecesMax }
    const transport = new NodeUpgradeTransport(request, socket, head, limits, this.#silent)
    const owner = new Echo()
    const opened = transport.upgrade([], request.headers['sec-websocket-key'] ?? '', '', owner)
    if (opened) owner.opened(opened)
  }

  #keep(socket: Socket): void {
    this.#connections.add(socket)
    socket.on('close', () => this.#connections.delete(socket))
    // 'close' reports a broken connection. Without this listener the event would end the process.
    socket.on('error', () => {})
  }
}

/** Catches errors. An error thrown by a node:http listener would end the process and all its connections. */
export function withoutThrowing({ options }: Engine, socket: Socket, run: () => void): void {
  try {
    run()
  } catch (err) {
    options.log.error({ err }, 'a request could not be taken')
    socket.destroy()
  }
}

/**
 * True if the request asks for a socket, also if other handshake headers are missing: the refusal then names the
 * missing header.
 */
export function asksForSocket({ socketRoutes }: Engine, request: IncomingMessage, path: string): boolean {
  if (request.method !== 'GET' || socketRoutes.find(request.headers.host ?? '', path) === null) return false
  return request.headers['sec-websocket-key']?.length === keyCharacters
}

/** Returns the connection to node:http, which reads the request again. */
export function serveWithoutUpgrade(server: Server, request: IncomingMessage, socket: Socket, head: Buffer): void {
  socket.unshift(Buffer.concat([withoutUpgrade(request), head]))
  server.emit('connection', socket)
}

/** The length of a handshake key. uWebSockets.js accepts only this length. See ws/handshake.ts. */
const keyCharacters = 24
/**
 * The maximum number of frames in one message, or reads for one frame. Each costs some 100 bytes besides its content.
 */
const piecesMax = 16_384
/**
 * The same limit for the echo socket. Known conformance suites send a 4 MiB message in 64-byte frames: 65,536 frames.
 */
const echoPiecesMax = 131_072
/** The longest delay in cutting a silent socket. */
const lookEveryMsMax = 4000
