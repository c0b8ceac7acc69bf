import type { Quantity } from '../billing/ledger.ts'
import type { DispatchedRequest } from '../dispatch/dispatch.ts'
import { leave } from '../dispatch/provider-stream.ts'
import type { LlmUsage } from '../ports/llm.ts'
import { ProviderError } from '../ports/provider-error.ts'
import { quantitiesOf } from './tokens.ts'

/** Turns the parts of one streamed answer into the events of one API, such as the router API. */
export interface AnswerReader<Part, Event> {
  /** Counts the characters in text and arguments so far. */
  readonly characters: number
  /** The provider's count for the whole answer. Null until the provider has sent it. */
  readonly usage: LlmUsage | null
  /**
   * Adds the part's events to `ready`. Returns true if the answer is complete. The rest of the provider's stream is
   * then not read.
   */
  read(part: Part, ready: Event[]): boolean
  /**
   * Called if the provider's stream ended without a last part. Adds the last events to `ready`, or throws ProviderError
   * `protocol`.
   */
  end(ready: Event[]): void
}

/** Returns the error for a provider's event stream that ended without its `end`. */
export function endedEarly(): ProviderError {
  return new ProviderError('protocol', { sent: true, cause: new Error('the stream ended without its end') })
}

/** A provider's stream whose first part has been read. */
export type BegunStream<Part> = { first: Part; rest: AsyncIterator<Part> }

/**
 * Settles the request with the final counts and returns the cost, or null if the price is unknown. An incomplete answer
 * is billed too, but its speed does not count in the model's figures.
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
  /** How long the provider may be silent while our code waits for its next part. */
  idleMs: number
  soFar: (characters: number) => Quantity[]
}

/**
 * Iterates over the events of one streamed answer. The iterator also finishes the request at the first of four moments:
 * the last event, a failure, the reader's return, or the client's disconnection. For speech, `follow` and `deliver` do
 * the same. Here one plain iterator does the work of both, because each layer costs time for each chunk in each stream.
 */
export class AnswerEvents<Part, Event> implements AsyncIterableIterator<Event> {
  readonly #dispatched: DispatchedRequest<unknown>
  readonly #rest: AsyncIterator<Part>
  readonly #reader: AnswerReader<Part, Event>
  readonly #options: EventOptions<Event>
  readonly #ready: Event[]
  #first: Part | null
  #ended = false
  /** True if the reader has stopped or has received the failure. */
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
        // An aborted signal means that the request has failed, so no event may look like a success. A settled request
        // cannot fail any more.
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
          // The provider may be silent for `idleMs` at most. The timer runs only while this iterator waits for the
          // provider, so a slow reader does not use up the time.
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

  /**
   * Fails the request. If the reader has stopped, the answer's part so far is billed. The provider does not report its
   * amount, so the amount is estimated.
   */
  #fail(error: unknown): unknown {
    const isCancelled = !(error instanceof ProviderError) || error.errorClass === 'cancelled'
    return this.#dispatched.fail(error, isCancelled ? this.#options.soFar(this.#reader.characters) : [])
  }
}
