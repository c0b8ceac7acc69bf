import { STATUS_CODES } from 'node:http'
import type { Transport } from '../transport.ts'
import type { HttpRequest, HttpResponse, us_socket_context_t } from './binary.ts'

/**
 * uWebSockets.js throws, or ends the process, when a response is touched after it was completed or aborted; `#open` is the one guard against that.
 * Each write is corked, or every header and chunk would be a system call of its own.
 */
export class UwsTransport implements Transport {
  readonly method: string
  readonly path: string
  readonly query: string
  /** uWebSockets.js cuts bodies slower than 16 KiB/s, so a bounded body is over in bounded time. */
  readonly bodyTimeoutMs = Number.POSITIVE_INFINITY
  readonly #response: HttpResponse
  readonly #request: HttpRequest
  #open = true
  #awaitsDrain = false
  #drained: (() => void) | null = null

  constructor(response: HttpResponse, request: HttpRequest) {
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
      run()
    })
  }

  onData(take: (chunk: Uint8Array, last: boolean) => void): void {
    this.#response.onData((chunk, last) => take(new Uint8Array(chunk), last))
  }

  answer(status: number, headers: readonly string[], body: string | Uint8Array | null, close: boolean): void {
    if (!this.#open) return
    this.#open = false
    const response = this.#response
    response.cork(() => {
      this.#head(status, headers)
      if (this.method === 'head' || isWithoutContent(status)) {
        // endWithoutBody takes even an undefined argument for a length; so the length is a header, and closing is left to the client.
        if (body !== null) response.writeHeader('Content-Length', String(Buffer.byteLength(body)))
        if (close) response.writeHeader('Connection', 'close')
        response.endWithoutBody()
      } else response.end(body ?? '', close)
    })
  }

  /** Answers 101; the carrier has made the socket when this returns, unless the client is gone. `subprotocol` is written as it stands, '' for none. */
  upgrade(
    headers: readonly string[],
    userData: object,
    key: string,
    subprotocol: string,
    context: us_socket_context_t,
  ): void {
    if (!this.#open) return
    this.#open = false
    this.#response.cork(() => {
      this.#head(101, headers)
      // Without the extensions: messages of audio do not compress, and a compressor a socket is a lot of memory.
      this.#response.upgrade(userData, key, subprotocol, '', context)
    })
  }

  open(status: number, headers: readonly string[], chunk: string | Uint8Array): boolean {
    if (!this.#open) return true
    let flowing = true
    this.#response.cork(() => {
      this.#head(status, headers)
      flowing = this.#response.write(chunk)
    })
    return flowing
  }

  write(chunk: string | Uint8Array): boolean {
    if (!this.#open) return true
    let flowing = true
    this.#response.cork(() => {
      flowing = this.#response.write(chunk)
    })
    return flowing
  }

  /**
   * Once this was called uWebSockets.js leaves what it has buffered until the next write or end: it expects the writer to go on.
   * A stream therefore never waits for long without a write.
   */
  onDrained(run: () => void): void {
    if (!this.#open) return
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

  /** A write that finds the socket full starts a timeout of 10 s; only pause and resume start it anew without a write. */
  holdOpen(): void {
    if (!this.#open) return
    this.#response.pause()
    this.#response.resume()
  }

  end(): void {
    if (!this.#open) return
    this.#open = false
    this.#response.cork(() => this.#response.end())
  }

  close(): void {
    if (!this.#open) return
    this.#open = false
    this.#response.close()
  }

  #head(status: number, headers: readonly string[]): void {
    this.#response.writeStatus(statusLine(status))
    for (let i = 0; i + 1 < headers.length; i += 2) {
      this.#response.writeHeader(headers[i] as string, headers[i + 1] as string)
    }
  }
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
