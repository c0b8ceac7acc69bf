import { createHash } from 'node:crypto'
import { type IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { SocketOwner, SocketTransport, UpgradeTransport } from '../../engine/transport.ts'
import type { Watch } from '../../timing/watch.ts'
import { NodeSocket, type SocketLimits } from './socket.ts'
import { NodeTransport } from './transport.ts'

/**
 * A request to open a socket. node:http has detached its connection, so the connection ends after a refusal, and bytes
 * from the client wait here until the response.
 */
export class NodeUpgradeTransport extends NodeTransport implements UpgradeTransport {
  readonly #socket: Socket
  readonly #limits: SocketLimits
  readonly #watch: Watch<NodeSocket>
  readonly #response: ServerResponse
  readonly #early: Buffer[] = []
  #earlyBytes = 0
  readonly #keep = (chunk: Buffer) => this.#keepEarly(chunk)
  /** Closes the connection if the client ends its side before the upgrade, because the client has then gone. */
  readonly #ended = () => this.#socket.destroy()

  /** `head` has the bytes after the request. */
  constructor(request: IncomingMessage, socket: Socket, head: Buffer, limits: SocketLimits, watch: Watch<NodeSocket>) {
    const response = new ServerResponse(request)
    super(request, response, Number.POSITIVE_INFINITY, refusalMs)
    this.#socket = socket
    this.#limits = limits
    this.#watch = watch
    this.#response = response
    response.shouldKeepAlive = false
    response.assignSocket(socket)
    response.on('finish', () => socket.destroySoon())
    if (head.length > 0) this.#keepEarly(head)
    socket.on('data', this.#keep)
    socket.on('end', this.#ended)
  }

  upgrade(headers: readonly string[], key: string, subprotocol: string, owner: SocketOwner): SocketTransport | null {
    const socket = this.#socket
    if (socket.destroyed) return null
    this.#response.detachSocket(socket)
    socket.off('data', this.#keep)
    socket.off('end', this.#ended)
    socket.write(switchingProtocols(headers, key, subprotocol))
    const opened = new NodeSocket(socket, owner, this.#limits, this.#watch)
    socket.resume()
    // The session begins after this returns, and must not miss early frames.
    if (this.#earlyBytes > 0) queueMicrotask(() => this.#early.forEach((chunk) => opened.read(chunk)))
    return opened
  }

  #keepEarly(chunk: Buffer): void {
    this.#early.push(chunk)
    this.#earlyBytes += chunk.length
    if (this.#earlyBytes > earlyBytesMax) this.#socket.pause()
  }
}

/**
 * Writes the head of the 101 response (RFC 6455, 4.2.2). It accepts no extensions: audio does not compress, and a
 * compressor for each socket takes much memory.
 */
export function switchingProtocols(headers: readonly string[], key: string, subprotocol: string): string {
  const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
  let head = `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n`
  if (subprotocol !== '') head += `Sec-WebSocket-Protocol: ${subprotocol}\r\n`
  for (let i = 0; i + 1 < headers.length; i += 2) head += `${headers[i]}: ${headers[i + 1]}\r\n`
  return `${head}\r\n`
}

/**
 * Returns the request's bytes without the Upgrade header. node:http emits every request with an Upgrade header as
 * 'upgrade', also an upgrade to HTTP/2. A server may ignore it, and some clients send it with each request.
 */
export function withoutUpgrade({ method, url, httpVersion, rawHeaders }: IncomingMessage): Buffer {
  let head = `${method} ${url} HTTP/${httpVersion}\r\n`
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string
    if (name.toLowerCase() !== 'upgrade') head += `${name}: ${rawHeaders[i + 1]}\r\n`
  }
  return Buffer.from(`${head}\r\n`, 'latin1')
}

/** The maximum number of bytes from a client before the upgrade is answered. After more bytes its socket is paused. */
const earlyBytesMax = 65_536
/** The longest time for the client to read a refusal, which is short and ends the connection. */
const refusalMs = 10_000
