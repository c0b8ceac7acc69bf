/** A caller in the session bench: sends recorded speech in real time, and plays the answer as a browser does. */
import { once } from 'node:events'
import { WebSocket } from 'ws'

export const frameMs = 20
const rateHz = 16_000
const frameBytes = (rateHz / 1000) * frameMs * 2
/** The wait in the browser's jitter buffer. */
const jitterMs = 60
const silence = Buffer.alloc(frameBytes)

export type TurnFigures = { latencyMs: number; lateMs: number[] }

export class BenchCaller {
  readonly turns: TurnFigures[] = []
  /** The reason why the session has ended. Null while it is open. */
  ended: string | null = null
  readonly #socket: WebSocket
  readonly #speech: readonly Buffer[]
  #at = -1
  #speechEndMs: number | null = null
  /** The first frame's time in the agent's turn, and the turn's frame count so far. */
  #firstMs: number | null = null
  #frames = 0
  #late: number[] = []
  #marks: { name: string; dueMs: number }[] = []
  #silentFrames = 0
  readonly #silentMax: number

  /** `pauseMs` is the time between the agent's turn and the next words. */
  private constructor(socket: WebSocket, speech: readonly Buffer[], pauseMs: number) {
    this.#socket = socket
    this.#speech = speech
    this.#silentMax = pauseMs / frameMs
    socket.on('message', (data: Buffer, isBinary) => (isBinary ? this.#frame() : this.#text(data)))
    socket.on('close', () => (this.ended ??= 'closed'))
  }

  static async join(
    server: { url: string; key: string },
    speech: readonly Buffer[],
    pauseMs: number,
    constraints: object,
  ): Promise<BenchCaller> {
    const answer = await fetch(`${server.url}/v1/sessions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ intent: { language: 'en' }, ttsOptions: { sampleRate: rateHz }, constraints }),
    })
    if (answer.status !== 201) throw new Error(`a session was answered ${answer.status}: ${await answer.text()}`)
    const { transportUrl, transportToken } = (await answer.json()) as { transportUrl: string; transportToken: string }
    const socket = new WebSocket(transportUrl, ['service.session.v1', `service.ephemeral.${transportToken}`])
    const caller = new BenchCaller(socket, speech, pauseMs)
    await once(socket, 'open')
    return caller
  }

  /** Called every 20 ms of real time. */
  tick(nowMs: number): void {
    if (this.ended !== null) return
    this.#socket.send(this.#microphone(nowMs))
    while (this.#marks[0] !== undefined && this.#marks[0].dueMs <= nowMs)
      this.#send({ type: 'played', mark: this.#marks.shift()?.name })
    if (this.#firstMs === null || nowMs < this.#firstMs + jitterMs + this.#frames * frameMs + 200) return
    this.#turnEnded()
  }

  leave(): void {
    this.#send({ type: 'end' })
  }

  #microphone(nowMs: number): Buffer {
    const isWaiting = this.#speechEndMs !== null
    if (isWaiting) return silence
    if (this.#at < 0 && this.#silentFrames++ < this.#silentMax) return silence
    const frame = this.#speech[++this.#at]
    if (frame !== undefined) return frame
    this.#speechEndMs = nowMs
    return silence
  }

  #turnEnded(): void {
    if (this.#firstMs !== null && this.#speechEndMs !== null)
      this.turns.push({ latencyMs: this.#firstMs + jitterMs - this.#speechEndMs, lateMs: this.#late })
    this.#firstMs = this.#speechEndMs = null
    this.#frames = this.#silentFrames = 0
    this.#at = -1
    this.#late = []
  }

  #frame(): void {
    const nowMs = performance.now()
    this.#firstMs ??= nowMs
    this.#late.push(Math.max(0, nowMs - this.#firstMs - this.#frames * frameMs))
    this.#frames++
  }

  #text(data: Buffer): void {
    const message = JSON.parse(data.toString()) as { type: string; name?: string; reason?: string }
    if (message.type === 'mark')
      this.#marks.push({ name: message.name ?? '', dueMs: (this.#firstMs ?? 0) + jitterMs + this.#frames * frameMs })
    else if (message.type === 'end') this.ended = message.reason ?? 'ended'
    else if (message.type === 'clear') {
      this.#marks = []
      this.#send({ type: 'played', mark: null, playedMs: 0, cleared: true })
    }
  }

  #send(message: object): void {
    this.#socket.send(JSON.stringify(message))
  }
}
