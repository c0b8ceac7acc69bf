/**
 * A mixed load, which rises and falls: requests for speech to text, LLM and text to speech, errors, a failing provider,
 * sockets and sessions.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Administration, call } from '../../platform/setup.ts'
import { wavOf } from '../../platform/spending.ts'
import type { Running } from '../../process/parley.ts'
import { frame, loopbackStt, stt } from '../../proxies/load.ts'
import { start } from '../../realtime/socket.ts'
import { ask, postJson, responses, send, speech, type Target, transcribe } from '../../router/requests.ts'
import { Page } from '../../session/voice-session.ts'

const workers = 6
const sockets = 12
const sessions = 5
const waveS = 90
const prices = [
  { model: 'chat', unit: 'million_input_tokens', microUsd: 1_000_000 },
  { model: 'chat', unit: 'million_output_tokens', microUsd: 2_000_000 },
].map((price) => ({ ...price, asOf: '2026-11' }))
const models = { llm: ['chat'], tts: ['speak'], stt: ['listen'] }

/** Returns the provider settings for the load. `down` is a provider that refuses connections. */
export function providersOf(stubUrl: string): string {
  const provider = { adapter: 'openai', baseUrl: `${stubUrl}/v1`, apiKey: 'k', models }
  return JSON.stringify([
    { ...provider, id: 'main', prices },
    { ...provider, id: 'unpriced' },
    { ...provider, id: 'down', baseUrl: 'http://127.0.0.1:9/v1' },
    { id: 'loopback', adapter: 'loopback' },
  ])
}

export class BoardLoad {
  readonly #rich: Target
  readonly #poor: Target
  readonly #loops: Promise<void>[]
  #isStopped = false
  requests = 0

  private constructor(parley: Running, rich: Target, poor: Target) {
    this.#rich = rich
    this.#poor = poor
    this.#loops = [
      ...Array.from({ length: workers }, (_, i) => this.#loop(() => this.#request(i))),
      ...Array.from({ length: sockets }, (_, i) => this.#loop(() => this.#socket(i))),
      ...Array.from({ length: sessions }, (_, i) => this.#loop(() => this.#session(parley, i))),
    ]
  }

  static async start(parley: Running, admin: Administration): Promise<BoardLoad> {
    // The server's own URL is the endpoint's URL. It refuses the events, so some deliveries wait for their next
    // attempt.
    await call(parley, 'POST', '/v1/webhooks', { name: 'board', url: `${parley.url}/hook`, events: ['call.report'] })
    const rich = await admin.organization('rich', { scopes: ['router', 'platform', 'realtime'] })
    return new BoardLoad(parley, rich, await admin.organization('poor', { creditMicroUsd: 0 }))
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await Promise.all(this.#loops)
  }

  /** Repeats `run` until the load stops. A failure does not end the load, because the dashboard must show failures. */
  async #loop(run: () => Promise<unknown>): Promise<void> {
    while (!this.#isStopped) await run().catch(() => sleep(500))
  }

  async #request(worker: number): Promise<void> {
    const turn = this.requests++
    const pinned = (model: string) => ({ routing: { mode: 'explicit', model } })
    const llm = (target: Target, model: string) => postJson(target, responses, ask('hello', pinned(model)))
    if (turn % 20 === 3) await llm(this.#poor, 'main/chat')
    else if (turn % 20 === 7) await llm(this.#rich, 'down/chat')
    else if (turn % 20 === 11) await send(this.#rich, '/router/v1/no-such-thing')
    else if (turn % 5 === 1) await llm(this.#rich, 'unpriced/chat')
    else if (turn % 5 === 2)
      await postJson(this.#rich, speech, { input: 'some words to speak', voice: 'alloy', ...pinned('main/speak') })
    else if (turn % 5 === 4) await transcribe(this.#rich, wavOf(1500), pinned('main/listen'))
    else await llm(this.#rich, 'main/chat')
    await sleep(60 + 40 * worker * (1 + Math.sin((performance.now() / 1000 / waveS) * 2 * Math.PI)))
  }

  async #socket(i: number): Promise<void> {
    await sleep(i * 1000)
    const client = await start(this.#rich, stt, loopbackStt)
    for (let sent = 0; sent < 20 + i && !this.#isStopped; sent++) {
      client.sendBytes(frame)
      await sleep(500)
    }
    client.send({ type: 'end' })
    await client.closed
  }

  async #session(parley: Running, i: number): Promise<void> {
    await sleep(i * 4000)
    const page = await Page.join(parley)
    for (let asked = 0; asked < 10 + i && !this.#isStopped; asked++) {
      await page.ask(`question ${asked}`)
      await sleep(1500)
    }
    await page.close()
  }
}
