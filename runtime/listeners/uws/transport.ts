import { STATUS_CODES } from 'node:http'
import type { Clock } from '../../engine/options.ts'
import type { BodySpeed, SocketOwner, SocketTransport, Transport, UpgradeTransport } from '../../engine/transport.ts'
import { utf8 } from '../../engine/utf8.ts'
import type { HttpRequest, HttpResponse, us_socket_context_t } from './app.ts'
import { BodyInTurns } from './body-in-turns.ts'
import { type Ending, Isolation } from './isolation.ts'
import { SizedBody } from './sized-body.ts'

/**
 * uWebSockets.js throws, or ends the process, if a response is touched after it was completed or aborted. `#open` and
 * `take` are the only guards against this. Each write is corked, because otherwise every header and chunk would be a
 * system call.
 */
export class UwsTransport implements Transport {
  readonly httpVersion = '1.1'
  readonly method: string
  readonly path: string
  readonly query: string
  /** uWebSockets.js cuts bodies slower than 16 KiB/s, so a bounded body ends in bounded time. */
  readonly bodyTimeoutMs = Number.POSITIVE_INFINITY
  readonly bodySpeed = bodySpeed
  readonly #response: HttpResponse
  readonly #request: HttpRequest
  #open = true
  readonly #clock: Clock
  /** Null if the request was not isolated: see Transport.isolate. */
  #isolation: Isolation | null = null
  #body: BodyInTurns | null = null
  /** Null if the response's length is unknown. */
  #sized: SizedBody | null = null
  #awaitsDrain = false
  #drained: (() => void) | null = null

  constructor(response: HttpResponse, request: HttpRequest, clock: Clock) {
    this.#clock = clock
    this.#response = response
    this.#request = request
    this.method = request.getMethod()
    this.path = request.getUrl()
    this.query = request.getQuery() ?? ''
  }

  header(name: string): string {
    return this.#request.getHeader(name)
  }

  eachHeader(visit: (name: string, value: string) => void): void {
    this.#request.forEach(visit)
  }

  address(): string {
    return this.#open ? Buffer.from(this.#response.getRemoteAddressAsText()).toString('latin1') : ''
  }

  onAborted(run: () => void): void {
    this.#response.onAborted(() => {
      this.#open = false
      this.#body?.drop()
      run()
    })
  }

  onData(take: (chunk: Uint8Array, last: boolean) => void): void {
    const body = new BodyInTurns(this.#response, take)
    this.#body = body
    this.#response.onData((chunk, last) => {
      this.#isolation?.read(chunk.byteLength, last)
      body.read(new Uint8Array(chunk), last)
    })
  }

  isolate(hasBody: boolean, closes: boolean): void {
    const isolation = new Isolation(this.#clock, hasBody, closes)
    this.#isolation = isolation
    if (hasBody) this.#response.onData((chunk, last) => isolation.read(chunk.byteLength, last))
  }

  answer(status: number, headers: readonly string[], body: string | Uint8Array | null, close: boolean): void {
    if (close || this.#isolation === null) this.#answer(status, headers, body, close ? 'closes' : 'goes on')
    else this.#isolation.finish((ending) => this.#answer(status, headers, body, ending))
  }

  #answer(status: number, headers: readonly string[], body: string | Uint8Array | null, ending: Ending): void {
    const response = this.take()
    response?.cork(() => {
      writeHead(response, status, headers)
      if (this.method === 'head' || isWithoutContent(status)) {
        // endWithoutBody takes even an undefined argument for a length. So the length is a header, and the client must
        // close the connection.
        if (body !== null) response.writeHeader('Content-Length', String(Buffer.byteLength(body)))
        if (ending !== 'goes on') response.writeHeader('Connection', 'close')
        response.endWithoutBody()
      } else {
        if (ending === 'reads no more') response.writeHeader('Connection', 'close').pause()
        if (ending === 'goes on' && body) this.#writeUnbuffered(response, body)
        else response.end(asWritten(body ?? ''), ending === 'closes')
      }
    })
  }

  /**
   * Writes a whole response. `end` would buffer the bytes not yet taken by the network, and uWebSockets.js would accept
   * the next request. A client that reads no response could fill the memory. With `tryEnd`, uWebSockets.js closes the
   * connection if a request comes before this response is complete.
   */
  #writeUnbuffered(response: HttpResponse, body: string | Uint8Array): void {
    const content = asWritten(body)
    const bytes = content.length
    const [, isComplete] = response.tryEnd(content, bytes)
    if (isComplete) return
    const rest = typeof content === 'string' ? Buffer.from(content) : content
    // uWebSockets.js drops this callback with the response or the connection, so the response is never touched later.
    response.onWritable((offset) => response.tryEnd(rest.subarray(offset), bytes)[0])
  }

  open(status: number, headers: readonly string[], chunk: string | Uint8Array, bytes: number | null): boolean {
    if (!this.#open) return true
    // `tryEnd` cannot close the connection after a request's body, but the response to an isolated request may have to
    // close it.
    if (bytes !== null && !(this.#isolation?.hasBody ?? false)) {
      this.#sized = new SizedBody(this.#response, bytes, () => this.take())
      return this.#sized.open(() => writeHead(this.#response, status, headers), asBytes(chunk))
    }
    let flowing = true
    this.#response.cork(() => {
      writeHead(this.#response, status, headers)
      flowing = this.#response.write(asWritten(chunk))
    })
    return flowing
  }

  write(chunk: string | Uint8Array): boolean {
    if (!this.#open) return true
    if (this.#sized !== null) return this.#sized.write(asBytes(chunk))
    let flowing = true
    this.#response.cork(() => {
      flowing = this.#response.write(asWritten(chunk))
    })
    return flowing
  }

  /**
   * After the first call uWebSockets.js keeps its buffer until the next write or end, because it expects further
   * writes. A stream must therefore never wait long without a write.
   */
  onDrained(run: () => void): void {
    if (!this.#open) return
    if (this.#sized !== null) return this.#sized.onDrained(run)
    this.#drained = run
    if (this.#awaitsDrain) return
    this.#awaitsDrain = true
    this.#response.onWritable(() => {
      const drained = this.#drained
      this.#drained = null
      drained?.()
      return true
    })
  }

  /**
   * Restarts the 10 s timeout that a write to a full socket starts. Besides a write, only pause and resume restart it.
   */
  holdOpen(): void {
    if (!this.#open) return
    this.#response.pause()
    this.#response.resume()
  }

  end(): void {
    if (this.#isolation === null) this.#end('goes on')
    else this.#isolation.finish((ending) => this.#end(ending))
  }

  #end(ending: Ending): void {
    // Nothing to do: a body with a known length is complete after its last byte.
    if (this.#sized !== null) return
    const response = this.take()
    response?.cork(() => {
      if (ending === 'reads no more') response.pause()
      response.end(undefined, ending === 'closes')
    })
  }

  close(): void {
    this.take()?.close()
  }

  /** Returns the response for its last use, or null if it was completed or aborted. */
  protected take(): HttpResponse | null {
    if (!this.#open) return null
    this.#open = false
    this.#body?.release()
    return this.#response
  }
}

/**
 * uWebSockets.js cuts a body without a response if fewer than 160 KiB came within 8 to 12 s. Every 4 s it cuts all such
 * bodies in one turn of the event loop, so thousands of slow bodies would delay all other requests. The server refuses
 * them a second earlier, and each one at its own time.
 */
const bodySpeed: BodySpeed = { startMs: 7000, pauseMs: 7000, bytesPerSMin: 16_384 }

/** The owner is set after the upgrade call has returned. */
export type OpenedSocket = SocketTransport & { owner?: SocketOwner }

/**
 * A request to open a socket. During the upgrade call, the `open` callback pushes the socket to `opened`. Nothing else
 * may happen in the callback: see listener.ts.
 */
export class UwsUpgradeTransport extends UwsTransport implements UpgradeTransport {
  readonly #context: us_socket_context_t
  readonly #opened: OpenedSocket[]

  constructor(
    response: HttpResponse,
    request: HttpRequest,
    clock: Clock,
    context: us_socket_context_t,
    opened: OpenedSocket[],
  ) {
    super(response, request, clock)
    this.#context = context
    this.#opened = opened
  }

  upgrade(headers: readonly string[], key: string, subprotocol: string, owner: SocketOwner): SocketTransport | null {
    const response = this.take()
    if (response === null) return null
    response.cork(() => writeHead(response, 101, headers))
    // The server accepts no extensions: audio does not compress, and a compressor for each socket takes much memory.
    response.cork(response.upgrade.bind(response, noFields, key, subprotocol, '', this.#context))
    const socket = this.#opened.pop()
    if (socket === undefined) return null
    socket.owner = owner
    return socket
  }
}

/** An empty object, because uWebSockets.js would copy its fields onto the socket within the upgrade call. */
const noFields = {}

function writeHead(response: HttpResponse, status: number, headers: readonly string[]): void {
  response.writeStatus(statusLine(status))
  for (let i = 0; i + 1 < headers.length; i += 2) {
    response.writeHeader(headers[i] as string, utf8(headers[i + 1] as string))
  }
}

function asBytes(content: string | Uint8Array): Uint8Array {
  return typeof content === 'string' ? Buffer.from(content) : content
}

function asWritten(content: string | Uint8Array): string | Uint8Array {
  return typeof content === 'string' ? utf8(content) : content
}

function isWithoutContent(status: number): boolean {
  return status === 204 || status === 304
}

const statusLines = new Map<number, string>(
  Object.entries(STATUS_CODES).map(([status, text]) => [Number(status), `${status} ${text}`]),
)

function statusLine(status: number): string {
  return statusLines.get(status) ?? String(status)
}
