/**
 * The clients during an upgrade, in a separate process and network. At every moment 200 streams and 100 sockets are
 * open, and 20 requests a second are sent, even while earlier requests wait for their answers. Most streams and sockets
 * end within a drain's grace; the others stay until they are ended. The load comes from many client addresses, because
 * the edge quota limits the requests from one address.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, fetch, type Response } from 'undici'
import { loopbackStt, stt } from '../../proxies/load.ts'
import { type Client, open } from '../../realtime/socket.ts'

export const counts = { streams: 200, stayingStreams: 40, sockets: 100, stayingSockets: 20, requestsPerS: 20 }
/** Shorter than drain.graceMs: if a stream begins just before the port closes, it ends in time. */
export const endingMs = 12_000
const socketFrame = Buffer.alloc(6400)
const frameMs = 500
const inFlightMax = 400

/** How a stream or socket ended. `atMs` is wall-clock time, so the main process can compare it with its own times. */
export type End = { atMs: number; how: 'whole' | 'dismissed' | 'cut'; last: string }
export type Result = { requests: number; failures: string[]; streams: End[]; sockets: End[] }
export type Target = { url: string; key: string }

export class UpgradeLoad {
  readonly #target: Target
  readonly #addresses: readonly string[]
  readonly #agents: readonly Agent[]
  readonly #result: Result = { requests: 0, failures: [], streams: [], sockets: [] }
  readonly #loops: Promise<void>[]
  readonly #stop = new AbortController()
  #turn = 0
  #inFlight = 0
  openStreams = 0
  openSockets = 0

  constructor(target: Target, addresses: readonly string[]) {
    this.#target = target
    this.#addresses = addresses
    this.#agents = addresses.map((localAddress) => new Agent({ localAddress, bodyTimeout: 0 }))
    const streams = Array.from({ length: counts.streams }, (_, i) =>
      this.#loop(i * 80, () => this.#stream(i < counts.stayingStreams ? 'staying' : 'ending')),
    )
    const sockets = Array.from({ length: counts.sockets }, (_, i) =>
      this.#loop(i * 160, () => this.#socket(i < counts.stayingSockets)),
    )
    this.#loops = [...streams, ...sockets, this.#requests()]
  }

  /** Begins to count results. By now all streams and sockets are open, and the upgrade begins. */
  begin(): void {
    this.#result.requests = 0
    for (const list of [this.#result.failures, this.#result.streams, this.#result.sockets]) list.length = 0
  }

  /** Stops the load. Streams that are still open end here, and the result has them as they are now. */
  async stop(): Promise<Result> {
    this.#stop.abort()
    await Promise.all(this.#loops)
    return this.#result
  }

  get #isStopped(): boolean {
    return this.#stop.signal.aborted
  }

  async #loop(afterMs: number, run: () => Promise<void>): Promise<void> {
    await sleep(afterMs)
    while (!this.#isStopped) {
      await run().catch((error: Error) => this.#fail(error))
      await sleep(50)
    }
  }

  async #requests(): Promise<void> {
    const sent: Promise<void>[] = []
    const startMs = performance.now()
    for (let i = 0; !this.#isStopped; i++) {
      await sleep(Math.max(0, startMs + (i * 1000) / counts.requestsPerS - performance.now()))
      if (this.#inFlight >= inFlightMax) this.#fail(new Error(`${inFlightMax} requests are not answered`))
      else sent.push(this.#request(i).catch((error: Error) => this.#fail(error)))
    }
    await Promise.all(sent)
  }

  /** Sends a POST and a GET by turns. No proxy repeats a POST that it has already sent. */
  async #request(i: number): Promise<void> {
    this.#result.requests += 1
    this.#inFlight += 1
    try {
      const answer = await (i % 2 === 0 ? this.#chat('quick', false) : this.#ask('GET', '/router/v1/models'))
      const text = await answer.text()
      if (answer.status !== 200) throw new Error(`a request was answered ${answer.status}: ${text.slice(0, 300)}`)
    } finally {
      this.#inFlight -= 1
    }
  }

  async #stream(model: string): Promise<void> {
    const answer = await this.#chat(model, true)
    if (answer.status !== 200) throw new Error(`a stream was answered ${answer.status}: ${await answer.text()}`)
    this.openStreams += 1
    const startedMs = Date.now()
    let text = ''
    try {
      for await (const chunk of answer.body as AsyncIterable<Uint8Array>) {
        text = `${text}${Buffer.from(chunk).toString()}`.slice(-1000)
        if (this.#isStopped) return
      }
    } catch (error) {
      text += String((error as Error).cause ?? error)
    } finally {
      this.openStreams -= 1
    }
    const end = endOf(text.trimEnd().split('\n').at(-1) ?? '', 'data: [DONE]', 'service_unavailable')
    // A cut stream is recorded with its connection header, which shows whether a node or the proxy had asked to close.
    if (end.how === 'cut')
      end.last += ` ${Date.now() - startedMs} ms after its head, ${answer.headers.get('connection')}`
    this.#result.streams.push(end)
  }

  async #socket(isStaying: boolean): Promise<void> {
    const headers = { authorization: `Bearer ${this.#target.key}` }
    const client = await open(this.#target, stt, { headers, localAddress: this.#nextAddress() })
    client.send({ type: 'config', ...loopbackStt })
    await client.take('ready')
    this.openSockets += 1
    const frames = setInterval(() => {
      if (client.socket.readyState === client.socket.OPEN) client.sendBytes(socketFrame)
    }, frameMs)
    await this.#whileOpen(client, isStaying)
    clearInterval(frames)
    this.openSockets -= 1
    if (this.#isStopped) return client.socket.terminate()
    const last = `${JSON.stringify(client.received.at(-1)?.frame)} ${await client.closed}`
    this.#result.sockets.push(endOf(last, ' 1000', 'SHUTTING_DOWN'))
  }

  async #whileOpen(client: Client, isStaying: boolean): Promise<void> {
    const stopped = new Promise((resolve) => this.#stop.signal.addEventListener('abort', resolve, { once: true }))
    if (isStaying) return void (await Promise.race([client.closed, stopped]))
    await Promise.race([client.closed, stopped, sleep(endingMs)])
    if (client.socket.readyState !== client.socket.OPEN) return
    client.send({ type: 'end' })
    await Promise.race([client.closed, stopped])
  }

  #chat(model: string, stream: boolean): Promise<Response> {
    const messages = [{ role: 'user', content: 'count' }]
    return this.#ask('POST', '/v1/chat/completions', { model: `mock:${model}`, stream, messages })
  }

  #ask(method: string, path: string, body?: object): Promise<Response> {
    return fetch(this.#target.url + path, {
      method,
      headers: { authorization: `Bearer ${this.#target.key}`, 'content-type': 'application/json' },
      dispatcher: this.#agents[this.#turn++ % this.#agents.length] as Agent,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  }

  #nextAddress(): string {
    return this.#addresses[this.#turn++ % this.#addresses.length] as string
  }

  #fail(error: Error): void {
    const cause = (error.cause as Error | undefined)?.message ?? ''
    this.#result.failures.push(`${new Date().toISOString()} ${error.message} ${cause}`)
  }
}

function endOf(last: string, whole: string, dismissed: string): End {
  const how = last.endsWith(whole) ? 'whole' : last.includes(dismissed) ? 'dismissed' : 'cut'
  return { atMs: Date.now(), how, last: how === 'whole' ? '' : last.slice(-300) }
}
