/** A voice session at a running Parley, over its real socket. The page types, and plays received audio at once. */
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ClientOptions, WebSocket } from 'ws'
import type { TestClock } from '../clock.ts'
import { judge } from '../oracle.ts'
import { until } from '../process/machine.ts'
import { passing } from '../router/requests.ts'

/** With a clock, time passes while a test waits for an answer or a frame. */
type Server = { url: string; key: string; clock?: TestClock }
export type Frame = { type: string; [field: string]: unknown }
export type Started = { sessionId: string; transportUrl: string; transportToken: string }

const loopback = { stt: ['loopback'], llm: ['loopback'], tts: ['loopback'] }
/** This provider answers from the request itself and costs nothing. */
export const loopbackProviders = JSON.stringify([{ id: 'loopback', adapter: 'loopback' }])
/** Request fields for a call without a stored agent. */
export const loopbackAgent = {
  intent: { language: 'en' },
  systemPrompt: 'Be brief.',
  constraints: { allowedProviders: loopback },
}

/** The sample rate of the audio in both directions, if a session requests it. */
export const rateHz = 16_000
const frameSamples = rateHz / 50

/** Sends a request. Returns the answer's status and JSON. */
export async function call(
  server: Server,
  path: string,
  body?: object,
): Promise<{ status: number; json: Record<string, unknown> }> {
  const url = server.url + path
  const method = body === undefined ? 'GET' : 'POST'
  const asked = fetch(url, {
    method,
    // On a busy machine a client may use a kept connection at the moment when the server closes it.
    headers: { authorization: `Bearer ${server.key}`, 'content-type': 'application/json', connection: 'close' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  }).then(async (answer) => ({
    status: answer.status,
    type: answer.headers.get('content-type'),
    text: await answer.text(),
  }))
  const answer = await passing(server, asked)
  judge({ url, method }, answer)
  const { status, text } = answer
  return { status, json: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>) }
}

export async function startSession(server: Server, more: object = {}): Promise<Started> {
  const wanted = { intent: { language: 'en' }, constraints: { allowedProviders: loopback }, ...more }
  const { status, json } = await call(server, '/v1/sessions', wanted)
  if (status !== 201) throw new Error(`a session was answered ${status}: ${JSON.stringify(json)}`)
  return json as Started
}

export class Page {
  readonly id: string
  readonly frames: Frame[] = []
  audioBytes = 0
  readonly #audioFrames: Buffer[] = []
  /** The close code. */
  closed: number | null = null
  /** The socket's error, such as the HTTP status if the server refused the socket. */
  #refusal = ''
  readonly socket: WebSocket
  readonly #until: typeof until

  constructor(
    { sessionId, transportUrl, transportToken }: Started,
    options: ClientOptions = {},
    clock: TestClock | undefined = undefined,
  ) {
    this.id = sessionId
    this.#until = clock === undefined ? until : (what, holds, limitMs) => clock.until(what, holds, limitMs)
    this.socket = new WebSocket(transportUrl, ['service.session.v1', `service.ephemeral.${transportToken}`], options)
    this.socket.on('message', (data: Buffer, isBinary) => (isBinary ? this.#audio(data) : this.#text(data)))
    this.socket.on('close', (code) => {
      this.closed = code
    })
    this.socket.on('error', ({ message }) => {
      this.#refusal = `, ${message},`
    })
  }

  /** Joins a new session. */
  static async join(server: Server, more: object = {}): Promise<Page> {
    const page = new Page(await startSession(server, more), {}, server.clock)
    await page.first('ready')
    return page
  }

  send(frame: object): void {
    this.socket.send(JSON.stringify(frame))
  }

  all(type: string): Frame[] {
    return this.frames.filter((frame) => frame.type === type)
  }

  async first(type: string, limitMs?: number): Promise<Frame> {
    await this.#until(`a frame ${type}`, () => this.all(type).length > 0 || this.closed !== null, limitMs)
    const [frame] = this.all(type)
    if (frame === undefined) throw new Error(`closed with ${this.closed}${this.#refusal} and no ${type}`)
    return frame
  }

  /** Types a message. Resolves once the agent's whole answer has arrived. */
  async ask(text: string): Promise<void> {
    const isAnswer = (frame: Frame) => frame['isFinal'] === true && frame['text'] === text
    this.send({ type: 'user_message', text })
    await this.#until(`an answer to ${text}`, () => this.all('agent_message').some(isAnswer))
  }

  /** Speaks in real time. */
  async say(voice: Int16Array): Promise<void> {
    const startMs = performance.now()
    for (let at = 0; at < voice.length; at += frameSamples) {
      const frame = voice.subarray(at, at + frameSamples)
      this.socket.send(new Uint8Array(frame.buffer, frame.byteOffset, frame.byteLength))
      await sleep(Math.max(0, startMs + (at / rateHz) * 1000 - performance.now()))
    }
  }

  /** All the agent's audio so far. */
  audio(): Int16Array {
    return new Int16Array(Uint8Array.from(Buffer.concat(this.#audioFrames)).buffer)
  }

  async close(): Promise<void> {
    if (this.closed !== null) return
    this.socket.terminate()
    await once(this.socket, 'close')
  }

  #audio(data: Buffer): void {
    this.audioBytes += data.length
    this.#audioFrames.push(data)
  }

  #text(data: Buffer): void {
    const frame = JSON.parse(data.toString()) as Frame
    this.frames.push(frame)
    if (frame.type === 'mark') this.send({ type: 'played', mark: frame['name'] })
    if (frame.type === 'clear') this.send({ type: 'played', mark: null, playedMs: 0, cleared: true })
  }
}
