import { ProviderError } from '../ports/provider-error.ts'
import type { CancelListener, CancelSignal, Clock } from '../ports/system.ts'
import type { TraceHeaders } from '../ports/trace.ts'

/**
 * The cancel signal of one attempt. It ends the attempt early when the client leaves, when no first media comes in time, when the provider
 * is silent in the middle, and at the total limit. An adapter may ignore its signal, so a promise under `guard` rejects at once.
 *
 * One timer serves all deadlines. `expect` and `rest` move the due time, and the timer reads this time when it fires.
 * So an item of a stream starts a new timer only if the timer that is set would fire too late.
 */
export class AttemptSignal implements CancelSignal {
  readonly traceHeaders: TraceHeaders | null
  readonly #clock: Clock
  readonly #client: CancelSignal
  /** Made for adapters that need a real AbortSignal; this object serves the others. */
  #controller: AbortController | null = null
  #listeners: readonly CancelListener[] = none
  readonly #totalDueMs: number
  readonly #clientLeft = () => this.end(new ProviderError('cancelled', { sent: true }))
  #dueMs: number
  /** When the timer that is set will fire. */
  #armedMs = 0
  #cancelTimer: (() => void) | null = null
  #reject: ((error: ProviderError) => void) | null = null
  #ended: ProviderError | null = null
  #closed = false
  #answeredModel: string | null = null
  #whenEnded: ((error: ProviderError) => void) | null = null

  /** `firstByteMs` from now; `totalDueMs` is a moment on the monotonic clock. A part of an attempt is in the trace of it. */
  constructor(
    clock: Clock,
    client: CancelSignal,
    firstByteMs: number,
    totalDueMs: number,
    traceHeaders: TraceHeaders | null = client.traceHeaders ?? null,
  ) {
    this.traceHeaders = traceHeaders
    this.#clock = clock
    this.#client = client
    this.#totalDueMs = totalDueMs
    this.#dueMs = Math.min(clock.monotonicMs() + firstByteMs, totalDueMs)
    this.#arm()
    client.addEventListener('abort', this.#clientLeft)
    if (client.aborted) this.#clientLeft()
  }

  /** The first model that the answer has named, which may be more precise than the one that was asked for. */
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

  /** Settles as `promise` does, or rejects when the attempt ends first; always with a ProviderError. One promise at a time. */
  guard<T>(promise: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      promise.then(resolve, (thrown: unknown) => reject(providerError(thrown)))
      if (this.#ended) reject(this.#ended)
      else this.#reject = reject
    })
  }

  /** The provider owes the next item within `idleMs`. */
  expect(idleMs: number): void {
    this.#dueMs = Math.min(this.#clock.monotonicMs() + idleMs, this.#totalDueMs)
    if (this.#dueMs < this.#armedMs && !this.#closed) this.#arm()
  }

  /** The provider owes nothing, because the reader has not asked for more. Only the total limit goes on. */
  rest(): void {
    this.#dueMs = this.#totalDueMs
    // A stream rests for hours, so the promise that opened it is not kept.
    this.#reject = null
  }

  /** `run` is called when the attempt is ended from outside, also while no promise is under `guard`. */
  onEnd(run: (error: ProviderError) => void): void {
    if (this.#ended) run(this.#ended)
    else this.#whenEnded = run
  }

  /** Ends the attempt for the adapter and for the promise under `guard`. */
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

  /** The attempt is over, and nothing will end it any more. */
  close(): void {
    this.#closed = true
    this.#cancelTimer?.()
    this.#client.removeEventListener('abort', this.#clientLeft)
  }

  #createController(): AbortController {
    const controller = new AbortController()
    if (this.traceHeaders) Object.assign(controller.signal, { traceHeaders: this.traceHeaders })
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
    else this.end(new ProviderError('timeout', { sent: true }))
  }
}

/** The longest name of a model in the configuration. */
const modelCharsMax = 256

/** Shared while there is no listener. An array that is pushed to reserves space for 17, and thousands of streams have one each. */
const none: readonly CancelListener[] = []

/** Anything else than a ProviderError that is thrown in an attempt is a defect of ours. Another candidate may still answer. */
export function providerError(thrown: unknown): ProviderError {
  if (thrown instanceof ProviderError) return thrown
  return new ProviderError('protocol', { sent: true, isOurDefect: true, cause: thrown })
}
