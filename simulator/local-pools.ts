/** Connections to servers on this machine. Connections to the most recently used addresses stay open. */

import { createPool, type OutboundPool } from '../runtime/outbound/pool.ts'
import type { WatchClock } from '../runtime/timing/watch.ts'

export type LocalRequest = {
  method: 'GET' | 'POST'
  url: string
  /** Alternating names and values. */
  headers: readonly string[]
  body?: string
  /** The time limit for the complete answer; 5 s by default. */
  waitMs?: number
}

const requestMs = 5000
const connectionsMax = 32
const queuedMax = 4096
const answerBytesMax = 256 * 1024
const originsMax = 16

export class LocalPools {
  readonly #clock: WatchClock
  readonly #pools = new Map<string, OutboundPool>()

  constructor(clock: WatchClock) {
    this.#clock = clock
  }

  /** Sends a request. Rejects with OutboundError if the request fails or gets no answer in time. */
  async request({
    method,
    url,
    headers,
    body,
    waitMs = requestMs,
  }: LocalRequest): Promise<{ status: number; body: Buffer }> {
    const { origin, pathname, search } = new URL(url)
    return this.#poolOf(origin).request({
      method,
      path: pathname + search,
      headers,
      ...(body !== undefined && { body }),
      headersTimeoutMs: waitMs,
      bodyTimeoutMs: waitMs,
      totalMs: waitMs,
      answerBytesMax,
    })
  }

  async close(): Promise<void> {
    await Promise.all([...this.#pools.values()].map((pool) => pool.close()))
    this.#pools.clear()
  }

  #poolOf(origin: string): OutboundPool {
    const existing = this.#pools.get(origin)
    this.#pools.delete(origin)
    const pool = existing ?? createPool({ origin, connectionsMax, queuedMax, connectMs: requestMs, clock: this.#clock })
    this.#pools.set(origin, pool)
    const [oldest] = this.#pools
    if (oldest && this.#pools.size > originsMax) {
      this.#pools.delete(oldest[0])
      void oldest[1].close()
    }
    return pool
  }
}
