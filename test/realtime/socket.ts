/** A client for the realtime channels. It keeps all frames in order, with their arrival times. */
import type { IncomingMessage } from 'node:http'
import { setImmediate as afterOthers, setTimeout as sleep } from 'node:timers/promises'
import WebSocket from 'ws'
import { serverWith, type TestServer } from '../server.ts'

export const subprotocol = 'service.realtime.v1'
export const loopback = JSON.stringify([{ id: 'loopback', adapter: 'loopback' }])
/** A model whose provider answers at once. Speech is routed to it only if the request names it. */
export const loopbackModel = 'loopback/loopback'

/** On a busy machine the embedded engines load their models slowly. A stream may be silent for as long. */
export const slowEngines = {
  PARLEY_REALTIME_OPEN_MS: '60000',
  PARLEY_REALTIME_SILENCE_MS: '60000',
  PARLEY_TIMEOUTS_FIRST_AUDIO_MS: '60000',
}

/** Returns the server that all tests with real speech share, because each server loads models for its engines. */
export const serverWithSpeech = (): Promise<TestServer> => serverWith({ PARLEY_PROVIDERS: loopback, ...slowEngines })

/** An event must come within this time, even if the server is busy or loads its engines. */
const eventMsMax = 60_000

export type Target = { url: string; key: string }
/** A text frame. Its fields depend on its type; the contract's tests check them. */
export type TextFrame = { type: string } & Record<string, unknown>
/** Exactly one of `frame` and `audio` is set. */
export type Received = { atMs: number; frame?: TextFrame; audio?: Buffer }
/** `localAddress` is the client's IP address, as the server sees it. */
export type Opening = { protocols?: string[]; headers?: Record<string, string>; localAddress?: string }

/** Resolves once the socket is open. Rejects with the status if the upgrade is refused. */
export async function open(target: Target, address: string, opening: Opening = {}): Promise<Client> {
  const client = new Client(dial(target, address, opening))
  await client.opened
  return client
}

/**
 * Opens a stream: sends the config and waits for the answer. If the config announces a WAV header, the answer comes
 * after the first audio.
 */
export async function start(target: Target, address: string, config: object = {}, first?: Uint8Array): Promise<Client> {
  const client = await open(target, address)
  client.send({ type: 'config', ...config })
  if (first) client.sendBytes(first)
  await client.take('ready')
  return client
}

/**
 * Opens a stream, because the built-in recognizer loads its models for its first stream. Until then speech waits, and
 * gets no captions.
 */
export async function loadStreamModels(target: Target): Promise<void> {
  const client = await start(target, '/v1/transcribe/stream', { language: 'en' })
  client.send({ type: 'end' })
  await client.closed
}

/** Starts the embedded engines for a page. A page waits only for words, and on a busy machine engines start slowly. */
export async function loadEngines(target: Target): Promise<void> {
  const client = await start(target, '/v1/synthesize/stream')
  client.send({ type: 'text', text: 'One.', flush: true })
  client.send({ type: 'end' })
  await Promise.all([client.closed, loadStreamModels(target)])
}

/** Returns the status and error code with which an upgrade is refused; 101 if it is not refused. */
export function refusal(target: Target, address: string, opening: Opening): Promise<{ status: number; code: string }> {
  return new Promise((resolve, reject) => {
    const socket = dial(target, address, opening)
    socket.on('error', reject)
    socket.on('open', () => {
      socket.terminate()
      resolve({ status: 101, code: '' })
    })
    socket.on('unexpected-response', (_request, response: IncomingMessage) => {
      let text = ''
      response.on('data', (chunk: Buffer) => (text += chunk.toString()))
      response.on('end', () => {
        const { error } = JSON.parse(text) as { error: { code: string } }
        resolve({ status: response.statusCode ?? 0, code: error.code })
      })
    })
  })
}

export class Client {
  readonly socket: WebSocket
  readonly received: Received[] = []
  readonly opened: Promise<void>
  /** The close code. */
  readonly closed: Promise<number>
  #taken = 0
  #closeCode: number | null = null
  #wake = () => {}

  constructor(socket: WebSocket) {
    this.socket = socket
    this.opened = new Promise((resolve, reject) => {
      socket.once('open', resolve)
      socket.once('error', reject)
    })
    this.closed = new Promise((resolve) => {
      socket.once('close', (code) => {
        this.#closeCode = code
        this.#wake()
        resolve(code)
      })
    })
    // A broken connection is visible in the close code, so its error event is ignored.
    socket.on('error', () => {})
    socket.on('message', (data: Buffer, isBinary) => {
      const atMs = performance.now()
      this.received.push(isBinary ? { atMs, audio: data } : { atMs, frame: JSON.parse(data.toString()) as TextFrame })
      this.#wake()
    })
  }

  send(frame: object | string): void {
    this.socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame))
  }

  sendBytes(bytes: Uint8Array): void {
    this.socket.send(bytes)
  }

  /** Sends frames of one second as fast as the socket accepts them. */
  async feed(bytes: Uint8Array, frameBytes = 32_000): Promise<void> {
    for (let at = 0; at < bytes.length; at += frameBytes) {
      while (this.socket.bufferedAmount > 1_000_000) await afterOthers()
      this.sendBytes(bytes.subarray(at, at + frameBytes))
    }
  }

  /** Resolves with the next text frame of this type, and skips other frames. */
  take(type: string, limitMs = eventMsMax): Promise<TextFrame> {
    return this.#next(`a frame ${type}`, ({ frame }) => frame?.type === type, limitMs).then(({ frame }) => frame!)
  }

  takeAudio(limitMs = eventMsMax): Promise<Buffer> {
    return this.#next('audio', ({ audio }) => audio !== undefined, limitMs).then(({ audio }) => audio!)
  }

  frames(type: string): TextFrame[] {
    return this.received.flatMap(({ frame }) => (frame?.type === type ? [frame] : []))
  }

  /** Returns all audio after an index of `received`. */
  audio(from = 0): Buffer {
    return Buffer.concat(this.received.slice(from).flatMap(({ audio }) => (audio ? [audio] : [])))
  }

  /** Returns the final texts, joined. */
  text(): string {
    return this.frames('transcript')
      .filter(({ isFinal }) => isFinal as boolean)
      .map(({ text }) => text as string)
      .join(' ')
  }

  async #next(what: string, fits: (received: Received) => boolean, limitMs: number): Promise<Received> {
    const endMs = performance.now() + limitMs
    for (;;) {
      while (this.#taken < this.received.length) {
        const received = this.received[this.#taken++]!
        if (fits(received)) return received
      }
      if (this.#closeCode !== null)
        throw new Error(`closed with ${this.#closeCode} before ${what}: ${JSON.stringify(this.received.at(-1)?.frame)}`)
      if (performance.now() > endMs) throw new Error(`not within ${limitMs} ms: ${what}`)
      await Promise.race([
        new Promise<void>((resolve) => {
          this.#wake = resolve
        }),
        sleep(Math.max(1, endMs - performance.now()), undefined, { ref: false }),
      ])
    }
  }
}

export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!
}

function dial({ url, key }: Target, address: string, opening: Opening): WebSocket {
  const headers = opening.headers ?? { authorization: `Bearer ${key}` }
  return new WebSocket(url.replace('http', 'ws') + address, opening.protocols ?? [subprotocol], {
    headers,
    ...(opening.localAddress !== undefined && { localAddress: opening.localAddress }),
  })
}
