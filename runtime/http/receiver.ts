import { Refusal } from '../engine/handler.ts'
import type { Clock } from '../engine/options.ts'
import type { Placed } from '../timing/roster.ts'
import type { Watch } from '../timing/watch.ts'
import type { Content } from './content.ts'
import type { HttpExchange } from './http-exchange.ts'

export type ReceiverLimits = {
  bytesMax: number
  /** The limit stated in messages to the client. It excludes boundaries and part headers. */
  payloadBytesMax: number
  /** The longest pause between two chunks. */
  pauseMs: number
  /** A body may be slower than `bytesPerSMin` for this long after its start. */
  startMs: number
  bytesPerSMin: number
}

/**
 * Each chunk costs a call and an object, even if it is tiny. So a body with more than `tinyChunksMax` chunks must have
 * at least `chunkBytesMin` bytes in each chunk, on average.
 */
const tinyChunksMax = 1000
const chunkBytesMin = 16

/**
 * Receives a body: bounds it, counts it and copies it out of the transport's buffer. After a refusal, further bytes are
 * read and dropped.
 *
 * Each byte moves the body's deadline by the time for one byte at the lowest speed, but never beyond the longest pause
 * from now. So a body as fast as the lowest speed is never late, and a faster body may pause for a while.
 */
export class Receiver implements Placed {
  place = -1
  readonly content: Content
  readonly #exchange: HttpExchange
  readonly #limits: ReceiverLimits
  readonly #stalls: Watch<Receiver>
  readonly #clock: Clock
  /** The monotonic time when further bytes must have arrived. */
  #deadlineMs: number
  #wasSlow = false
  #bytes = 0
  #chunks = 0
  #outcome: 'arriving' | 'whole' | Error = 'arriving'
  #settle: (() => void) | null = null

  constructor(exchange: HttpExchange, content: Content, limits: ReceiverLimits, stalls: Watch<Receiver>, clock: Clock) {
    this.#exchange = exchange
    this.content = content
    this.#limits = limits
    this.#stalls = stalls
    this.#clock = clock
    this.#deadlineMs = exchange.startedMs + Math.min(limits.startMs, limits.pauseMs)
  }

  /** Resolves when the body is whole. Rejects with a Refusal or ClientGone. */
  whole(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#settle = () => {
        if (this.#outcome === 'whole') resolve()
        else if (this.#outcome !== 'arriving') reject(this.#outcome)
      }
      this.#settle()
      this.#exchange.whenGone(reject)
    })
  }

  /** Ends the body with this error. The rest is read and dropped. */
  fail(error: Error): void {
    if (this.#outcome !== 'arriving') return
    this.#end(error)
    this.content.destroy()
  }

  /**
   * True if the body is too slow, or if its total time is up. A slow body's deadline must be over at two checks in a
   * row. The first check may come after a busy turn of the event loop, while received bytes still wait in the system's
   * buffer.
   */
  isLate(nowMs: number): boolean {
    const { transport, startedMs } = this.#exchange
    const wasSlow = this.#wasSlow
    this.#wasSlow = nowMs > this.#deadlineMs
    return (wasSlow && this.#wasSlow) || nowMs - startedMs > transport.bodyTimeoutMs
  }

  refuseLate(): void {
    if (this.#outcome !== 'arriving') return
    this.#exchange.closesConnection = true
    this.fail(new Refusal('request_timeout', { message: 'the body did not arrive in time' }))
  }

  /** Receives a chunk, and copies it because the transport reuses its buffer. */
  receive(chunk: Uint8Array, last: boolean): void {
    if (this.#outcome !== 'arriving') return
    try {
      if (chunk.length > 0) this.#take(chunk, last)
      if (last) this.#finish()
    } catch (error) {
      this.fail(error as Error)
    }
  }

  #take(chunk: Uint8Array, last: boolean): void {
    this.#bytes += chunk.length
    this.#chunks += 1
    if (this.#chunks > tinyChunksMax && this.#bytes < this.#chunks * chunkBytesMin) throw this.#tooManyChunks()
    if (this.#bytes > this.#limits.bytesMax) throw tooLarge(this.#limits.payloadBytesMax)
    if (!this.#exchange.hold(chunk.length)) throw noMemory()
    if (!last) this.#moveDeadline(chunk.length)
    this.content.take(Buffer.from(chunk), last)
  }

  #moveDeadline(bytes: number): void {
    const { pauseMs, bytesPerSMin } = this.#limits
    const byPause = this.#clock.monotonicMs() + pauseMs
    this.#deadlineMs = Math.min(byPause, this.#deadlineMs + (bytes * 1000) / bytesPerSMin)
  }

  #tooManyChunks(): Refusal {
    this.#exchange.closesConnection = true
    return new Refusal('malformed_body', { message: 'the body is sent in chunks of too few bytes' })
  }

  #finish(): void {
    if (this.#bytes === 0) throw new Refusal('malformed_body', { message: 'the body is empty' })
    const parsed = this.content.finish()
    if (!parsed) return this.#end('whole')
    // All bytes have arrived, so the body cannot stall.
    this.#stalls.delete(this)
    parsed.then(
      () => this.#outcome === 'arriving' && this.#end('whole'),
      (error: Error) => this.fail(error),
    )
  }

  #end(outcome: 'whole' | Error): void {
    this.#outcome = outcome
    this.#stalls.delete(this)
    this.#settle?.()
  }
}

export function tooLarge(bytesMax: number): Refusal {
  return new Refusal('payload_too_large', { message: `the body is larger than ${bytesMax} bytes` })
}

export function noMemory(): Refusal {
  return new Refusal('overloaded', { message: 'too many uploads at once', retryAfterS: 5 })
}
