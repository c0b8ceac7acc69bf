/** Sockets of a run: every frame is kept in order, and waits have limits. */
import { WebSocket } from 'ws'

export type Frame = { type: string } & Record<string, unknown>
export type Refusal = { status: number; headers: Readonly<Record<string, unknown>>; body: string }

/** How long a frame, an opening or a close may take, in milliseconds. Recognizers load their models at first use. */
export const frameMsMax = 60_000
/** The most frames that are kept. */
const framesMax = 20_000

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

  constructor(url: string, protocols: readonly string[], headers: Readonly<Record<string, string>>) {
    this.socket = new WebSocket(url, [...protocols], { headers, handshakeTimeout: frameMsMax })
    this.socket.on('open', () => {
      this.protocol = this.socket.protocol
      this.#changed()
    })
    this.socket.on('message', (data: Buffer, isBinary) => this.#receive(data, isBinary))
    this.socket.on('close', (code) => {
      this.closeCode = code
      this.#changed()
    })
    this.socket.on('unexpected-response', (_request, response) => {
      let body = ''
      response.setEncoding('utf8').on('data', (piece: string) => (body += piece))
      response.on('end', () => {
        this.refusal = { status: response.statusCode ?? 0, headers: response.headers, body }
        this.#changed()
      })
    })
    this.socket.on('error', ({ message }) => {
      this.failure = message
      this.closeCode ??= 1006
      this.#changed()
    })
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
      const timer = setTimeout(() => end(false), frameMsMax)
      this.#waiting.add(look)
    })
  }

  end(): void {
    this.socket.terminate()
  }

  #receive(data: Buffer, isBinary: boolean): void {
    if (this.order.length >= framesMax) return this.end()
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
