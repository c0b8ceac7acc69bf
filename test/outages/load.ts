/**
 * A steady load on a running Parley: requests that need the database, requests that do not, and requests to /readyz.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { ask, responses } from '../router/requests.ts'

/** `keyed` has an idempotency key, so it needs the database. `keyless` needs only the API key. */
type Kind = 'keyed' | 'keyless' | 'ready'

export type Outcome = { kind: Kind; atMs: number; tookMs: number; status: number; requestId: string }

type Target = { url: string; key: string }

const underWayMax = 2_000
const routing = { mode: 'explicit', provider: 'loopback', model: 'loopback' }
const keyed = JSON.stringify(ask('hello', { routing }))
const keyless = JSON.stringify({ model: 'loopback:loopback', messages: [{ role: 'user', content: 'hello' }] })

export class Load {
  readonly #target: Target
  readonly #outcomes: Outcome[] = []
  readonly #underWay = new Set<Promise<void>>()
  #isOver = false
  #due = 0
  #ended: Promise<unknown> = Promise.resolve()

  constructor(target: Target) {
    this.#target = target
  }

  /** Starts the load. `perSecond` does not count the requests to /readyz. */
  start(perSecond: number): void {
    this.#ended = Promise.all([
      this.#repeat(2_000 / perSecond, () => this.#post('keyed', responses, keyed, { 'idempotency-key': randomUUID() })),
      this.#repeat(2_000 / perSecond, () => this.#post('keyless', '/v1/chat/completions', keyless)),
      this.#repeat(100, () => this.#send('ready', '/readyz', {})),
    ])
  }

  /** Returns the number of due requests. If too many are under way, a due request is not sent. */
  get due(): number {
    return this.#due
  }

  /** Resolves when all requests sent so far are answered. */
  async answered(): Promise<void> {
    await Promise.all(this.#underWay)
  }

  /** Ends the load, once all requests are answered. */
  async end(): Promise<readonly Outcome[]> {
    this.#isOver = true
    await this.#ended
    await this.answered()
    return this.#outcomes
  }

  /** Starts `run` every `everyMs`, even if earlier runs have not ended. */
  async #repeat(everyMs: number, run: () => Promise<void>): Promise<void> {
    for (let nextMs = performance.now(); !this.#isOver; nextMs += everyMs) {
      await sleep(Math.max(0, nextMs - performance.now()))
      this.#due += 1
      if (this.#underWay.size >= underWayMax) continue
      const sent: Promise<void> = run().finally(() => this.#underWay.delete(sent))
      this.#underWay.add(sent)
    }
  }

  #post(kind: Kind, path: string, body: string, headers: Record<string, string> = {}): Promise<void> {
    const own = { authorization: `Bearer ${this.#target.key}`, 'content-type': 'application/json' }
    return this.#send(kind, path, { method: 'POST', body, headers: { ...own, ...headers } })
  }

  async #send(kind: Kind, path: string, init: RequestInit): Promise<void> {
    const atMs = performance.now()
    let status = 0
    let requestId = ''
    try {
      const answer = await fetch(this.#target.url + path, init)
      await answer.arrayBuffer()
      status = answer.status
      requestId = answer.headers.get('x-request-id') ?? ''
    } catch {
      // The connection was lost, so the outcome keeps the status 0.
    }
    this.#outcomes.push({ kind, atMs, tookMs: performance.now() - atMs, status, requestId })
  }
}
