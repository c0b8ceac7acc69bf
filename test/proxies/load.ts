/** Sends requests and opens sockets without a pause, and counts their failures. */
import { setTimeout as sleep } from 'node:timers/promises'
import { start, type Target } from '../realtime/socket.ts'

export const chat = '/v1/chat/completions'
export const hello = { model: 'loopback:loopback', messages: [{ role: 'user', content: 'hello' }] }
export const stt = '/v1/transcribe/stream'
export const loopbackStt = { encoding: 'pcm_s16le', sampleRate: 16_000, model: 'loopback/loopback' }
/** 200 ms of audio. */
export const frame = Buffer.alloc(6400)

export type LoadResult = { requests: number; sockets: number; failures: string[] }

export class Load {
  readonly #target: Target
  readonly #result: LoadResult = { requests: 0, sockets: 0, failures: [] }
  readonly #loops: Promise<void>[]
  #isStopped = false

  constructor(target: Target) {
    this.#target = target
    const request = () => this.#loop(8, () => this.#request())
    this.#loops = [...Array.from({ length: 6 }, request), this.#loop(100, () => this.#socket())]
  }

  async stop(): Promise<LoadResult> {
    this.#isStopped = true
    await Promise.all(this.#loops)
    return this.#result
  }

  async #loop(pauseMs: number, run: () => Promise<void>): Promise<void> {
    while (!this.#isStopped) {
      await run().catch((error: Error) =>
        this.#result.failures.push(`${error.message} ${(error.cause as Error | undefined)?.message ?? ''}`),
      )
      await sleep(pauseMs)
    }
  }

  /** Sends a POST, because no proxy repeats a POST once it was sent. */
  async #request(): Promise<void> {
    this.#result.requests += 1
    const answer = await postJson(this.#target, chat, hello)
    const text = await answer.text()
    if (answer.status !== 200 || !text.includes('"content":"hello"')) throw new Error(`${answer.status} ${text}`)
  }

  async #socket(): Promise<void> {
    this.#result.sockets += 1
    const client = await start(this.#target, stt, loopbackStt)
    client.sendBytes(frame)
    await client.take('transcript')
    client.send({ type: 'end' })
    const code = await client.closed
    if (code !== 1000) throw new Error(`a socket closed with ${code}`)
  }
}

export function postJson({ url, key }: Target, path: string, body: object): Promise<Response> {
  return fetch(url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
}
