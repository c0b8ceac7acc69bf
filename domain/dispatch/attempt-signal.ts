import { ProviderError } from '../ports/provider-error.ts'
import type { CancelListener, CancelSignal, Clock } from '../ports/system.ts'
import type { TraceHeaders } from '../ports/trace.ts'

/**
 * An attempt's cancel signal. It ends the attempt early if the client disconnects, if the first media is late, if the
 * provider pauses for too long, and at the total time limit. An adapter may ignore its signal. So a promise under
 * `guard` rejects at once when the signal ends, without waiting for the adapter.
 *
 * One timer serves all deadlines. `expect` and `rest` move the due time, and the timer reads this time when it fires.
 * So a stream's item starts a new timer only if the current timer would fire too late.
 */
export class AttemptSignal implements CancelSignal {
  readonly traceHeaders: TraceHeaders | null
  readonly owner: string | undefined
  readonly #clock: Clock
  readonly #client: CancelSignal
  /** Made only if an adapter needs a real AbortSignal. Otherwise this object is the signal. */
  #controller: AbortController | null = null
  #listeners: readonly CancelListener[] = none
  readonly #totalDueMs: number
  readonly #clientLeft = () => this.end(new ProviderError('cancelled', { sent: true }))
  #dueMs: number
  /** The time at which the current timer fires. */
  #armedMs = 0
  #cancelTimer: (() => void) | null = null
  #reject: ((error: ProviderError) => void) | null = null
  #ended: ProviderError | null = null
  #closed = false
  /** True while the reader has not requested another item. */
  #rests = false
  #answeredModel: string | null = null
  #whenEnded: ((error: ProviderError) => void) | null = null

  /**
   * `firstByteMs` counts from now. `totalDueMs` is on the monotonic clock. If the trace or the organization is absent,
   * the value from the client's signal is used.
   */
  constructor(
    clock: Clock,
    client: CancelSignal,
    firstByteMs: number,
    totalDueMs: number,
    traceHeaders: TraceHeaders | null = client.traceHeaders ?? null,
    owner = client.owner,
  ) {
    this.traceHeaders = traceHeaders
    this.owner = owner
    this.#clock = clock
    this.#client = client
    this.#totalDueMs = totalDueMs
    this.#dueMs = Math.min(clock.monotonicMs() + firstByteMs, totalDueMs)
    this.#arm()
    client.addEventListener('abort', this.#clientLeft)
    if (client.aborted) this.#clientLeft()
  }

  /** Returns the first model name in the answer. It may be more precise than the requested name. */
  get answeredModel(): string | null {
    return this.#answeredModel
  }

  answeredBy(model: unknown): void {
    if (typeof model === 'string' && model !== '') this.#answeredModel ??= model.slice(0, modelCharsMax)
  }

  get abortSignal(): AbortSignal {
    this.#controller ??= this.#createController()
    if (this.#ended) this.#controller.abort(this.#ended)
    return this.#controller.signal
  }

  get aborted(): boolean {
    return this.#ended !== null
  }

  get reason(): unknown {
    return this.#ended
  }

  addEventListener(_type: 'abort', listener: CancelListener): void {
    this.#listeners = this.#listeners === none ? [listener] : [...this.#listeners, listener]
  }

  removeEventListener(_type: 'abort', listener: CancelListener): void {
    if (this.#listeners.includes(listener)) this.#listeners = this.#listeners.filter((each) => each !== listener)
  }

  /**
   * Settles like `promise`, or rejects if the attempt ends first, always with a ProviderError. Only one promise at a
   * time may be guarded.
   */
  guard<T>(promise: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      promise.then(resolve, (thrown: unknown) => reject(providerError(thrown)))
      if (this.#ended) reject(this.#ended)
      else this.#reject = reject
    })
  }

  /** Starts waiting for the provider's next item. If the item does not arrive within `idleMs`, the attempt ends. */
  expect(idleMs: number): void {
    this.#rests = false
    this.#dueMs = Math.min(this.#clock.monotonicMs() + idleMs, this.#totalDueMs)
    if (this.#dueMs < this.#armedMs && !this.#closed) this.#arm()
  }

  /**
   * Stops waiting for the provider, because the reader has not requested more. Only the total time limit still applies.
   */
  rest(): void {
    this.#rests = true
    this.#dueMs = this.#totalDueMs
    // A stream may wait for its reader for hours. This frees the memory held by its opening promise.
    this.#reject = null
  }

  /** Calls `run` when `end` ends the attempt, even if no promise was given to `guard`. */
  onEnd(run: (error: ProviderError) => void): void {
    if (this.#ended) run(this.#ended)
    else this.#whenEnded = run
  }

  /** Ends the attempt. The adapter's signal is aborted, and the promise under `guard` rejects. */
  end(error: ProviderError): void {
    if (this.#closed) return
    this.#ended = error
    this.close()
    this.#controller?.abort(error)
    const listeners = this.#listeners
    this.#listeners = none
    for (const listener of listeners) {
      if (typeof listener === 'function') listener()
      else listener.handleEvent()
    }
    this.#reject?.(error)
    this.#whenEnded?.(error)
  }

  /** Call this when the attempt is over. Afterwards neither a timer nor the client can end it. */
  close(): void {
    this.#closed = true
    this.#cancelTimer?.()
    this.#client.removeEventListener('abort', this.#clientLeft)
  }

  #createController(): AbortController {
    const controller = new AbortController()
    const { traceHeaders, owner } = this
    Object.assign(controller.signal, { traceHeaders, owner })
    return controller
  }

  #arm(): void {
    this.#cancelTimer?.()
    const delayMs = Math.max(0, this.#dueMs - this.#clock.monotonicMs())
    this.#armedMs = this.#dueMs
    this.#cancelTimer = this.#clock.after(delayMs, () => this.#onTimer())
  }

  #onTimer(): void {
    if (this.#clock.monotonicMs() < this.#dueMs) this.#arm()
    else this.end(new ProviderError('timeout', { sent: true, isByCaller: this.#rests }))
  }
}

/** Model names in providers' answers are cut to this length. Model names in the configuration are shorter. */
const modelCharsMax = 256

/**
 * All signals without a listener share this list. `push` on an empty list would reserve space for 17 items in each of
 * thousands of streams.
 */
const none: readonly CancelListener[] = []

/**
 * Returns the thrown error as a ProviderError. If the error has another type, it is a defect in our code, but another
 * candidate may still answer.
 */
export function providerError(thrown: unknown): ProviderError {
  if (thrown instanceof ProviderError) return thrown
  return new ProviderError('protocol', { sent: true, isOurDefect: true, cause: thrown })
}
