/**
 * A queue for synthesized speech: a socket adds chunks and a reader reads them one by one. A vendor is much faster than
 * a reader at playout speed, and a socket cannot be paused, so the queue's size in bytes is limited. Time limits for
 * the vendor apply only while the reader waits.
 *
 *   open ──end──► drained, then done        open ──fail──► drained, then rejects        any ──return──► done
 */

import { ProviderError } from '../../domain/ports/provider-error.ts'
import type { Clock } from '../../domain/ports/system.ts'
import type { OutboundLimits } from '../../runtime/outbound/limits.ts'
import { protocolError } from './failures.ts'

export type SpeechQueueOptions = {
  clock: Clock
  /**
   * `firstByteMs` limits the wait for the first chunk, `idleMs` the wait between two chunks, and `answerBytesMax` the
   * bytes in the queue.
   */
  limits: Pick<OutboundLimits, 'firstByteMs' | 'idleMs' | 'answerBytesMax'>
  signal: AbortSignal
  /** Called once, when the socket is no longer needed. */
  over: () => void
}

type Waiting = { resolve: (result: IteratorResult<Uint8Array>) => void; reject: (error: ProviderError) => void }

export class SpeechQueue implements AsyncIterable<Uint8Array>, AsyncIterator<Uint8Array> {
  readonly #options: SpeechQueueOptions
  readonly #chunks: Uint8Array[] = []
  #queuedBytes = 0
  #waitMs: number
  #waiting: Waiting | null = null
  #cancelTimer: (() => void) | null = null
  #isOver = false
  #failure: ProviderError | null = null

  constructor(options: SpeechQueueOptions) {
    this.#options = options
    this.#waitMs = options.limits.firstByteMs
    options.signal.addEventListener('abort', this)
    if (options.signal.aborted) this.handleEvent()
  }

  /** Called when the cancel signal aborts. The chunks in the queue are dropped. */
  handleEvent(): void {
    this.#drop()
    this.fail(new ProviderError('cancelled', { sent: true, cause: this.#options.signal.reason }))
  }

  /** Adds a chunk without copying its bytes. */
  push(chunk: Uint8Array): void {
    if (this.#isOver || chunk.length === 0) return
    this.#waitMs = this.#options.limits.idleMs
    const waiting = this.#stopWaiting()
    if (waiting) return waiting.resolve({ value: chunk, done: false })
    this.#chunks.push(chunk)
    this.#queuedBytes += chunk.length
    if (this.#queuedBytes > this.#options.limits.answerBytesMax)
      this.fail(protocolError('more speech than can be held'))
  }

  end(): void {
    this.#settle(null)
  }

  fail(error: ProviderError): void {
    this.#settle(error)
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<Uint8Array>> {
    const chunk = this.#chunks.shift()
    if (chunk) {
      this.#queuedBytes -= chunk.length
      return Promise.resolve({ value: chunk, done: false })
    }
    if (this.#failure) return Promise.reject(this.#failure)
    if (this.#isOver) return Promise.resolve({ value: undefined, done: true })
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject }
      const late = () => this.fail(new ProviderError('timeout', { sent: true, cause: 'no speech in time' }))
      this.#cancelTimer = this.#options.clock.after(this.#waitMs, late)
    })
  }

  return(): Promise<IteratorResult<Uint8Array>> {
    this.#drop()
    this.#failure = null
    this.end()
    return Promise.resolve({ value: undefined, done: true })
  }

  #settle(error: ProviderError | null): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#failure = error
    this.#options.signal.removeEventListener('abort', this)
    this.#options.over()
    const waiting = this.#stopWaiting()
    if (error) waiting?.reject(error)
    else waiting?.resolve({ value: undefined, done: true })
  }

  #stopWaiting(): Waiting | null {
    const waiting = this.#waiting
    this.#waiting = null
    this.#cancelTimer?.()
    this.#cancelTimer = null
    return waiting
  }

  #drop(): void {
    this.#chunks.length = 0
    this.#queuedBytes = 0
  }
}
