import type { Quantity } from '../billing/ledger.ts'
import type { DispatchedRequest } from '../dispatch/dispatch.ts'
import { leave } from '../dispatch/provider-stream.ts'
import type { LlmUsage } from '../ports/llm.ts'
import { ProviderError } from '../ports/provider-error.ts'
import { quantitiesOf } from './tokens.ts'

/** Turns the parts of one streamed answer into the events of a surface. */
export interface AnswerReader<Part, Event> {
  /** Characters of text and arguments that were read. */
  readonly characters: number
  /** The provider's count of the whole answer; null until it has come. */
  readonly usage: LlmUsage | null
  /** Adds the events of `part` to `ready`. True: the answer is complete, and the provider's stream is left. */
  read(part: Part, ready: Event[]): boolean
  /**
   * The provider's stream ended and no part was the last. Adds the last events to `ready`, or throws ProviderError
   * `protocol`.
   */
  end(ready: Event[]): void
}

/** A provider's stream of events ended and its `end` never came. */
export function endedEarly(): ProviderError {
  return new ProviderError('protocol', { sent: true, cause: new Error('the stream ended without its end') })
}

/** A provider's stream from its first part on. */
export type BegunStream<Part> = { first: Part; rest: AsyncIterator<Part> }

/**
 * Closes the account of the request with the final counts and answers the cost; null where the price is unknown. An answer that is not
 * complete is billed, but its speed says nothing of the model.
 */
export type Settle = (usage: LlmUsage, isComplete: boolean) => number | null

export function settleStream(
  dispatched: DispatchedRequest<unknown>,
  usage: LlmUsage | null,
  isComplete: boolean,
): number | null {
  const sample = isComplete ? { firstByteMs: dispatched.elapsedMs } : {}
  return dispatched.succeed(usage ? quantitiesOf(usage) : [], sample)
}

export type EventOptions<Event> = {
  opening: readonly Event[]
  /** How long the provider may send nothing while it is read. */
  idleMs: number
  soFar: (characters: number) => Quantity[]
}

/**
 * The events of one streamed answer, and how its request ends. Whichever comes first finishes the request: the last
 * event, a failure, the reader's return or the client's leaving. `follow` and `deliver` do the same for speech. This is
 * one plain iterator instead, because every chunk of every stream pays for each layer.
 */
export class AnswerEvents<Part, Event> implements AsyncIterableIterator<Event> {
  readonly #dispatched: DispatchedRequest<unknown>
  readonly #rest: AsyncIterator<Part>
  readonly #reader: AnswerReader<Part, Event>
  readonly #options: EventOptions<Event>
  readonly #ready: Event[]
  #first: Part | null
  #ended = false
  /** The reader left, or got the failure. */
  #isOver = false

  constructor(
    dispatched: DispatchedRequest<unknown>,
    { first, rest }: BegunStream<Part>,
    reader: AnswerReader<Part, Event>,
    options: EventOptions<Event>,
  ) {
    this.#dispatched = dispatched
    this.#rest = rest
    this.#reader = reader
    this.#options = options
    this.#ready = [...options.opening]
    this.#first = first
    dispatched.signal.onEnd((error) => this.#fail(error))
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<Event>> {
    const { signal } = this.#dispatched
    if (this.#isOver) return { value: undefined, done: true }
    try {
      for (;;) {
        // The request has failed from outside, so nothing goes out that would look like a success. A settled request cannot fail any more.
        if (signal.aborted) throw signal.reason
        const event = this.#ready.shift()
        if (event !== undefined) return { value: event, done: false }
        if (this.#ended) {
          settleStream(this.#dispatched, this.#reader.usage, true)
          return { value: undefined, done: true }
        }
        let part = this.#first
        this.#first = null
        if (part === null) {
          // The provider may be silent for `idleMs` while it is read. The time that our own reader takes does not count.
          signal.expect(this.#options.idleMs)
          const next = await signal.guard(this.#rest.next())
          signal.rest()
          if (next.done) {
            this.#reader.end(this.#ready)
            this.#ended = true
            continue
          }
          part = next.value
        }
        if (this.#reader.read(part, this.#ready)) this.#leave()
      }
    } catch (error) {
      const fault = this.#fail(error)
      this.#isOver = true
      this.#leave()
      throw fault
    }
  }

  return(): Promise<IteratorResult<Event>> {
    this.#fail(new ProviderError('cancelled', { sent: true }))
    this.#isOver = true
    this.#leave()
    return Promise.resolve({ value: undefined, done: true })
  }

  #leave(): void {
    this.#ended = true
    void leave(this.#rest)
  }

  /** A reader who leaves owes the part that was written so far; the provider never says how much that was. */
  #fail(error: unknown): unknown {
    const isCancelled = !(error instanceof ProviderError) || error.errorClass === 'cancelled'
    return this.#dispatched.fail(error, isCancelled ? this.#options.soFar(this.#reader.characters) : [])
  }
}
