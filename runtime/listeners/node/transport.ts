import type { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { BodySpeed, Transport } from '../../engine/transport.ts'

/** One request over node:http. node:http bounds idle times, and the HTTP engine enforces the lowest speed of bodies. */
export class NodeTransport implements Transport {
  readonly httpVersion: string
  readonly method: string
  readonly path: string
  readonly query: string
  readonly bodyTimeoutMs: number
  readonly bodySpeed = bodySpeed
  readonly #readerTimeoutMs: number
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  /** The request target's host, if the target has the absolute form. RFC 9112, 3.2.2. */
  readonly #authority: string

  constructor(request: IncomingMessage, response: ServerResponse, bodyTimeoutMs: number, readerTimeoutMs: number) {
    this.#request = request
    this.#response = response
    this.bodyTimeoutMs = bodyTimeoutMs
    this.httpVersion = request.httpVersion
    this.#readerTimeoutMs = readerTimeoutMs
    this.method = (request.method ?? '').toLowerCase()
    const url = request.url ?? ''
    this.#authority = /^https?:\/\/([^/?#]*)/i.exec(url)?.[1] ?? ''
    const target = this.#authority === '' ? url : url.slice(url.indexOf('//') + 2 + this.#authority.length)
    const mark = target.indexOf('?')
    this.path = (mark < 0 ? target : target.slice(0, mark)) || '/'
    this.query = mark < 0 ? '' : target.slice(mark + 1)
    // 'close' reports a broken connection. Without listeners these events would end the process.
    request.on('error', ignore)
    response.on('error', ignore)
  }

  header(name: string): string {
    const lines = this.#request.rawHeaders
    for (let i = 0; i + 1 < lines.length; i += 2)
      if ((lines[i] as string).toLowerCase() === name) return lines[i + 1] as string
    return ''
  }

  /** Reads the raw lines, because node joins or drops repeated lines. */
  eachHeader(visit: (name: string, value: string) => void): void {
    const lines = this.#request.rawHeaders
    for (let i = 0; i + 1 < lines.length; i += 2)
      visit((lines[i] as string).toLowerCase(), asUtf8(lines[i + 1] as string))
    // A second host is refused, because a proxy might have read either of the two hosts.
    if (this.#authority !== '' && this.#authority !== this.header('host')) visit('host', this.#authority)
  }

  address(): string {
    return this.#request.socket.remoteAddress ?? ''
  }

  onAborted(run: () => void): void {
    this.#response.on('close', () => {
      if (!this.#response.writableFinished) run()
    })
  }

  onData(take: (chunk: Uint8Array, last: boolean) => void): void {
    this.#request.on('data', (chunk: Buffer) => take(chunk, false))
    this.#request.on('end', () => take(new Uint8Array(0), true))
  }

  /** Does nothing, because node:http verifies body framing, and closes the connection if the request asks for it. */
  isolate(): void {}

  answer(status: number, headers: readonly string[], body: string | Uint8Array | null, close: boolean): void {
    if (!this.#open()) return
    const lines = asLatin1(headers)
    if (body !== null) lines.push('Content-Length', String(Buffer.byteLength(body)))
    else if (this.method !== 'head' && status !== 204 && status !== 304) lines.push('Content-Length', '0')
    if (close) lines.push('Connection', 'close')
    this.#readBeforeClose()
    this.#response.writeHead(status, lines)
    this.#response.end(this.method === 'head' || body === null ? undefined : beside(headers, body))
    this.#boundReading()
  }

  open(status: number, headers: readonly string[], chunk: string | Uint8Array, bytes: number | null): boolean {
    if (!this.#open()) return true
    const lines = asLatin1(headers)
    if (bytes !== null) lines.push('Content-Length', String(bytes))
    this.#response.writeHead(status, lines)
    return this.write(beside(headers, chunk))
  }

  write(chunk: string | Uint8Array): boolean {
    return !this.#open() || chunk.length === 0 || this.#response.write(chunk)
  }

  onDrained(run: () => void): void {
    // The client may have read everything while the writer waited for its source. Then no `drain` follows.
    if (this.#response.writableNeedDrain) this.#response.once('drain', run)
    else queueMicrotask(run)
  }

  holdOpen(): void {}

  end(): void {
    if (!this.#open()) return
    this.#readBeforeClose()
    this.#response.end()
    this.#boundReading()
  }

  close(): void {
    this.#request.socket.destroy()
  }

  /**
   * Makes node read the rest of a body before it closes the connection. Closing a connection with unread bytes resets
   * it, and a client still sending its body would lose the response (RFC 9112, 9.6). So, where node would close the
   * connection, only the writing side ends. The rest of the body is read and dropped. The server's `requestTimeout`
   * bounds this, and the connection is cut if the client sends nothing for `silenceMs`.
   */
  #readBeforeClose(): void {
    const request = this.#request
    if (request.complete) return
    const { socket } = request
    socket.destroySoon = () => {
      if (request.complete) return Socket.prototype.destroySoon.call(socket)
      socket.end()
      // Uses Node's socket timeout (on the machine's clock), because Node restarts it with each byte on the socket.
      socket.setTimeout(silenceMs, () => socket.destroy())
      request.once('end', () => socket.destroy())
      request.resume()
    }
  }

  /** Ends the connection if the client reads nothing from the rest of a response for too long. */
  #boundReading(): void {
    if (!this.#response.writableFinished) this.#response.setTimeout(this.#readerTimeoutMs)
  }

  #open(): boolean {
    return !this.#response.writableEnded && !this.#response.destroyed
  }
}

const silenceMs = 10_000

const bodySpeed: BodySpeed = { startMs: 10_000, pauseMs: Number.POSITIVE_INFINITY, bytesPerSMin: 0 }

function ignore(): void {}

/**
 * Decodes a header value as UTF-8. node reads header bytes as Latin-1, but uWebSockets.js reads and writes UTF-8, and
 * both engines must agree.
 */
function asUtf8(value: string): string {
  return isAscii(value) ? value : Buffer.from(value, 'latin1').toString('utf8')
}

function asLatin1(headers: readonly string[]): string[] {
  return headers.map((text) => (isAscii(text) ? text : Buffer.from(text, 'utf8').toString('latin1')))
}

/**
 * Returns the body in a form that fits the headers. node writes the head and a text together, as UTF-8. So if the head
 * is not ASCII, a text must become bytes.
 */
function beside(headers: readonly string[], body: string | Uint8Array): string | Uint8Array {
  return typeof body !== 'string' || headers.every(isAscii) ? body : Buffer.from(body)
}

function isAscii(text: string): boolean {
  return /^[\x00-\x7f]*$/.test(text)
}
