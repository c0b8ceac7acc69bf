import { Refusal } from '../engine/handler.ts'
import type { Clock } from '../engine/options.ts'
import type { Placed } from '../timing/roster.ts'
import type { Watch } from '../timing/watch.ts'
import type { Content } from './content.ts'
import type { HttpExchange } from './http-exchange.ts'

export type ReceiverLimits = {
  /** The most that is read. */
  bytesMax: number
  /** The limit that the client is shown: of the payload, without boundaries and part headers. */
  payloadBytesMax: number
  /** A body that makes no progress for this long is refused. */
  stallMs: number
}

/**
 * A chunk costs a call and an object, however few bytes it has. So a body of very many chunks must have this many bytes
 * in each of them, on average.
 */
const tinyChunksMax = 1000
const chunkBytesMin = 16

/**
 * A body as it arrives: bounded, counted, copied out of the transport's buffer. Bytes that arrive after a refusal are
 * read and dropped.
 */
export class Receiver implements Placed {
  place = -1
  readonly content: Content
  readonly #exchange: HttpExchange
  readonly #limits: ReceiverLimits
  readonly #stalls: Watch<Receiver>
  readonly #clock: Clock
  /** When the last byte came, monotonic. */
  #progressMs: number
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
    this.#progressMs = exchange.startedMs
  }

  /** Settles when the body is whole; rejects with a Refusal, or with ClientGone. */
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

  /** The rest of the body will be read and dropped. */
  fail(error: Error): void {
    if (this.#outcome !== 'arriving') return
    this.#end(error)
    this.content.destroy()
  }

  /** Refuses a body that makes no progress, or whose whole time is up. */
  look(nowMs: number): void {
    const isSilent = nowMs - this.#progressMs > this.#limits.stallMs
    if (!isSilent && nowMs - this.#exchange.startedMs <= this.#exchange.transport.bodyTimeoutMs) return
    this.#exchange.closesConnection = true
    this.fail(new Refusal('request_timeout', { message: 'the body did not arrive in time' }))
  }

  /** `chunk` is lent until this returns. */
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
    if (!last) this.#progressMs = this.#clock.monotonicMs()
    this.content.take(Buffer.from(chunk), last)
  }

  #tooManyChunks(): Refusal {
    this.#exchange.closesConnection = true
    return new Refusal('malformed_body', { message: 'the body is sent in chunks of too few bytes' })
  }

  #finish(): void {
    if (this.#bytes === 0) throw new Refusal('malformed_body', { message: 'the body is empty' })
    const parsed = this.content.finish()
    if (!parsed) return this.#end('whole')
    // All bytes are here, so nothing can stall any more.
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
