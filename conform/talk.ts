/** A socket that the run has opened: every frame is kept in order, and waits have limits. */
import type { IncomingMessage } from 'node:http'
import { WebSocket } from 'ws'

export type Frame = { type: string } & Record<string, unknown>
export type Refusal = { status: number; headers: Readonly<Record<string, unknown>>; body: string }

/** A socket's limits: how long a wait may take, and the run's end, which ends the socket. */
export type TalkLimits = { frameMs: number; ended: AbortSignal }

/** The limits for stored frames: their number, and their bytes. */
const framesMax = 20_000
const bytesMax = 64 * 1024 * 1024
/** The maximum number of bytes in one frame, and in a refusal's body. */
const frameBytesMax = 16 * 1024 * 1024
const refusalBytesMax = 64 * 1024

export class Talk {
  readonly frames: Frame[] = []
  readonly binary: Buffer[] = []
  /** Text frames that are not JSON. */
  readonly broken: string[] = []
  /** Frames in the order of arrival: the type, or `binary`. */
  readonly order: string[] = []
  closeCode: number | null = null
  refusal: Refusal | null = null
  /** The reason why the socket did not open, or broke. */
  failure = ''
  protocol = ''
  readonly socket: WebSocket
  readonly #waiting = new Set<() => void>()
  readonly #limits: TalkLimits
  #bytes = 0

  constructor(
    url: string,
    protocols: readonly string[],
    headers: Readonly<Record<string, string>>,
    limits: TalkLimits,
  ) {
    this.#limits = limits
    this.socket = new WebSocket(url, [...protocols], {
      headers,
      handshakeTimeout: limits.frameMs,
      maxPayload: frameBytesMax,
    })
    const end = () => this.end()
    limits.ended.addEventListener('abort', end)
    this.socket.on('open', () => {
      this.protocol = this.socket.protocol
      this.#changed()
    })
    this.socket.on('message', (data: Buffer, isBinary) => this.#receive(data, isBinary))
    this.socket.on('close', (code) => {
      limits.ended.removeEventListener('abort', end)
      this.closeCode = code
      this.#changed()
    })
    this.socket.on('unexpected-response', (_request, response) => this.#refused(response))
    this.socket.on('error', ({ message }) => {
      this.failure = message
      this.closeCode ??= 1006
      this.#changed()
    })
    if (limits.ended.aborted) end()
  }

  /** Waits until the socket is open, refused or closed. Returns whether it opened. */
  async opened(): Promise<boolean> {
    const isOpen = () => this.socket.readyState === WebSocket.OPEN
    await this.until(() => isOpen() || this.refusal !== null || this.closeCode !== null)
    return isOpen() || this.order.length > 0
  }

  /** Waits for a frame with this type. Null if the socket closes before, or if the time is over. */
  async first(type: string): Promise<Frame | null> {
    const found = () => this.frames.find((frame) => frame.type === type)
    await this.until(() => found() !== undefined || this.closeCode !== null)
    return found() ?? null
  }

  closed(): Promise<boolean> {
    return this.until(() => this.closeCode !== null)
  }

  send(frame: unknown): void {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(frame))
  }

  /** Waits until the condition is true. Returns false if the time is over before. */
  async until(isTrue: () => boolean): Promise<boolean> {
    if (isTrue()) return true
    return new Promise((resolve) => {
      const end = (value: boolean) => {
        clearTimeout(timer)
        this.#waiting.delete(look)
        resolve(value)
      }
      const look = () => isTrue() && end(true)
      const timer = setTimeout(() => end(false), this.#limits.frameMs)
      this.#waiting.add(look)
    })
  }

  end(): void {
    this.socket.terminate()
  }

  #refused(response: IncomingMessage): void {
    let body = ''
    const done = () => {
      this.refusal = { status: response.statusCode ?? 0, headers: response.headers, body }
      this.#changed()
    }
    response.setEncoding('utf8').on('data', (piece: string) => {
      body += piece
      if (body.length > refusalBytesMax) response.destroy()
    })
    response.on('close', done)
    response.on('error', () => response.destroy())
  }

  #receive(data: Buffer, isBinary: boolean): void {
    this.#bytes += data.length
    if (this.order.length >= framesMax || this.#bytes > bytesMax) {
      this.failure = `more than ${framesMax} frames or ${bytesMax} bytes came`
      return this.end()
    }
    if (isBinary) {
      this.binary.push(data)
      this.order.push('binary')
    } else this.#receiveText(data.toString())
    this.#changed()
  }

  #receiveText(text: string): void {
    try {
      const frame = JSON.parse(text) as Frame
      this.frames.push(frame)
      this.order.push(frame.type)
    } catch {
      this.broken.push(text)
      this.order.push('broken')
    }
  }

  #changed(): void {
    for (const look of [...this.#waiting]) look()
  }
}
