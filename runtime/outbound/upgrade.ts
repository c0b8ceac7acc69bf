/**
 * Opens a WebSocket with the `ws` package's handshake. Adds the check of the IP address (address-guard.ts), our limits,
 * and OutboundError for failures.
 *
 *   connecting ──TCP, TLS──► asking ──101──► open
 *       └──────────┬───────────┴──other──► refused: the answer is collected
 *            failed, timed out or cancelled (the first outcome stays)
 */
import type { ClientRequest, IncomingMessage } from 'node:http'
import { isIP, connect as netConnect, type Socket } from 'node:net'
import { connect as tlsConnect } from 'node:tls'
import { WebSocket } from 'ws'
import { type AddressPolicy, AddressRefused, checkHost, guardedLookup } from './address-guard.ts'
import { AnswerHeaders, type CollectedAnswer } from './answer.ts'
import { OutboundError, toOutboundError } from './outbound-error.ts'
import type { OutboundSocketOptions } from './socket.ts'

/** Thrown if the server's response is not 101. `answer` is this response, with at most the first 64 KiB of its body. */
export class UpgradeRefused extends Error {
  readonly answer: CollectedAnswer

  constructor(answer: CollectedAnswer) {
    super(`the upgrade was refused with ${answer.status}`)
    this.name = 'UpgradeRefused'
    this.answer = answer
  }
}

const refusalBytesMax = 65_536
/** The longest wait for a server's answer to a close frame. */
const graceMs = 2000
/** If a peer disappears without a close, the kernel notices after this time and ten more seconds. */
const keepAliveDelayMs = 10_000

/** Opens a WebSocket. `opened` is called synchronously when it opens, so no frame is missed. */
export function upgrade<T>(options: OutboundSocketOptions, opened: (ws: WebSocket) => T): Promise<T> {
  return new Promise((resolve, reject) => {
    const { signal, guard, url } = options
    if (signal?.aborted) return reject(new OutboundError('cancelled', false, signal.reason))
    try {
      if (guard) checkHost(new URL(url).hostname, guard)
      new Upgrade(options, (ws) => resolve(opened(ws)), reject)
    } catch (cause) {
      const refused = cause instanceof AddressRefused
      // Any other error comes from a URL, header or subprotocol that cannot be written.
      reject(new OutboundError(refused ? 'address_refused' : 'protocol', false, cause))
    }
  })
}

class Upgrade {
  readonly #options: OutboundSocketOptions
  readonly #resolve: (ws: WebSocket) => void
  readonly #reject: (error: Error) => void
  readonly #ws: WebSocket
  /** Uses the machine's clock, because a real socket opens at its own pace. */
  #timer: NodeJS.Timeout
  #settled = false
  #connected = false
  /** True once a status line has arrived. */
  #answered = false
  /** Stops collecting a refusal's body and uses the collected part. */
  #refuse: (() => void) | null = null

  constructor(options: OutboundSocketOptions, resolve: (ws: WebSocket) => void, reject: (error: Error) => void) {
    this.#options = options
    this.#resolve = resolve
    this.#reject = reject
    this.#ws = new WebSocket(options.url, [...options.protocols], this.#clientOptions())
    this.#timer = setTimeout(() => this.#expire(), options.connectMs)
    options.signal?.addEventListener('abort', this)
    this.#ws.on('upgrade', () => {
      this.#answered = true
    })
    this.#ws.on('open', () => this.#open())
    this.#ws.on('unexpected-response', (request, response) => this.#collect(request, response))
    this.#ws.on('error', (error) => this.#fail(this.#failure(error)))
  }

  /** Called by the cancel signal: ends the attempt. */
  handleEvent(): void {
    this.#fail(new OutboundError('cancelled', this.#connected, this.#options.signal?.reason))
  }

  #clientOptions(): WebSocket.ClientOptions {
    const { headers, frameBytesMax, url, guard } = this.#options
    const secure = new URL(url).protocol === 'wss:'
    // The type has all overloads for net.connect. `ws` calls it only with an object.
    const createConnection = ((target: Target) => {
      const socket = connect(target, secure, guard)
      socket.once(secure ? 'secureConnect' : 'connect', () => this.#connect())
      return socket
    }) as unknown as typeof netConnect
    const fields = Object.fromEntries(headers.flatMap((name, i) => (i % 2 ? [] : [[name, headers[i + 1] as string]])))
    // @types/ws lacks `closeTimeout`. TypeScript allows the additional field if the object is in a variable first.
    const options = { headers: fields, maxPayload: frameBytesMax, closeTimeout: graceMs, createConnection }
    return { ...options, perMessageDeflate: false }
  }

  /** Called when the connection is open and the request is being written. Starts the wait for the response. */
  #connect(): void {
    this.#connected = true
    if (this.#settled) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#expire(), this.#options.openMs)
  }

  #expire(): void {
    if (this.#refuse) this.#refuse()
    else this.#fail(new OutboundError(this.#connected ? 'first_byte_timeout' : 'connect_timeout', this.#connected))
  }

  #open(): void {
    if (!this.#settle()) return
    this.#ws.removeAllListeners()
    this.#resolve(this.#ws)
  }

  #collect(request: ClientRequest, response: IncomingMessage): void {
    const chunks: Buffer[] = []
    let bytes = 0
    const refuse = () => {
      const headers = new AnswerHeaders(response.rawHeaders.map((text) => Buffer.from(text, 'latin1')))
      const body = Buffer.concat(chunks).subarray(0, refusalBytesMax)
      this.#fail(new UpgradeRefused({ status: response.statusCode ?? 0, headers, body }))
      request.destroy()
    }
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes >= refusalBytesMax) refuse()
    })
    // If the body breaks off or does not end in time, the upgrade is refused too.
    response.on('error', () => {})
    response.once('close', refuse)
    this.#refuse = refuse
  }

  #failure(error: Error & { code?: string }): OutboundError {
    // Node's parser error holds the invalid bytes. A server's text must not reach the log.
    if (error.code?.startsWith('HPE_')) return new OutboundError('protocol', true, error.message)
    if (this.#answered) return new OutboundError('protocol', true, error)
    return toOutboundError(error, this.#connected)
  }

  #fail(error: Error): void {
    if (!this.#settle()) return
    this.#ws.terminate()
    this.#reject(error)
  }

  /** Ends the attempt. Returns false if the outcome is already known. */
  #settle(): boolean {
    if (this.#settled) return false
    this.#settled = true
    clearTimeout(this.#timer)
    this.#options.signal?.removeEventListener('abort', this)
    return true
  }
}

type Target = { host: string; port: number; servername?: string }

function connect({ host, port, servername }: Target, secure: boolean, guard: AddressPolicy | undefined): Socket {
  const target = {
    host,
    port,
    keepAlive: true,
    keepAliveInitialDelay: keepAliveDelayMs,
    ...(guard && { lookup: guardedLookup(guard) }),
  }
  // An IP address is not a TLS server name (RFC 6066 §3).
  return secure ? tlsConnect({ ...target, servername: servername ?? (isIP(host) ? '' : host) }) : netConnect(target)
}
