/**
 * One HTTP request to another server and its response, as undici's parser sees it. Every attempt at a provider creates
 * such an object, so these objects are plain: no emitter, no stream, no timer. The pool's timer bounds the wait for
 * headers and for the next chunk. The total time is checked only when a chunk arrives, so it can be exceeded by one
 * idle time. The objects implement the older of undici's two handler interfaces on purpose: undici wraps a handler with
 * the newer interface, and makes a controller and a parsed header object for every request.
 *
 *   waiting ──onConnect──► sent ──onHeaders──► answering ──onComplete──► done
 *      └──────────────────────┴── onError / cancel ──┴─────────────────► failed (the first failure stays)
 */
import { loopTurn } from '../../audio/loop-turn.ts'
import type { CancelSignal } from '../engine/cancel-signal.ts'
import type { Place } from '../shares/capacity.ts'
import type { Placed } from '../timing/roster.ts'
import { AnswerHeaders, type AnswerStream, type CollectedAnswer, type StreamedAnswer } from './answer.ts'
import { OutboundError, type OutboundFailure, toOutboundError } from './outbound-error.ts'

export type RequestLimits = {
  answerBytesMax: number
  deadlineMs: number
  /** The longest time from the request to the status line. */
  headersTimeoutMs: number
  /** The longest time between two chunks of the response. */
  bodyTimeoutMs: number
  monotonicMs: () => number
}

/** The methods that a request calls on the pool's connections. */
export interface RequestHost {
  /** Called when the request has left its connection, or the queue. */
  ended(request: PendingRequest): void
  /** Called when the reader has not read for a while, although data are waiting. */
  stuck(request: PendingRequest): void
}

/** Servers send one or two interim responses. An endless series would keep the parser busy until the time-out. */
const interimsMax = 32

export abstract class PendingRequest implements Placed {
  place = -1
  /**
   * The unit that the request takes from a limit of its organization: the limit on connections once the request is
   * sent, and the limit on queued requests while it waits.
   */
  share: Place | null = null
  /** Sends the request. Set while it waits in the queue. */
  queued: (() => void) | null = null
  protected readonly host: RequestHost
  /**
   * The monotonic time when the server has been silent for too long. Infinity while no response is expected from the
   * server.
   */
  protected silentAtMs = Number.POSITIVE_INFINITY
  protected failure: OutboundError | null = null
  protected status = 0
  protected headers = noHeaders
  protected bytes = 0
  readonly #limits: RequestLimits
  readonly #signal: CancelSignal | undefined
  #abort: ((error?: Error) => void) | null = null
  #sent = false
  #interims = 0

  constructor(limits: RequestLimits, signal: CancelSignal | undefined, host: RequestHost) {
    this.#limits = limits
    this.host = host
    this.#signal = signal
    signal?.addEventListener('abort', this)
  }

  protected abstract settle(): void

  /** Begins to wait for a connection, at most for `waitMs`. */
  waits(place: Place, waitMs: number, send: () => void): void {
    this.share = place
    this.queued = send
    this.silentAtMs = this.nowMs() + waitMs
  }

  /** Called before the request goes to a connection. */
  starts(place: Place): void {
    this.share = place
    this.queued = null
    this.silentAtMs = Number.POSITIVE_INFINITY
  }

  /** Fails the request for a reason in this process. */
  refuse(failure: 'queue_full' | 'unread' | 'unreachable'): void {
    this.cut(failure)
  }

  /** Cancels the request. This object is the cancel signal's listener, so a request needs no closure. */
  handleEvent(): void {
    this.cut('cancelled', this.#signal?.reason)
  }

  /**
   * undici calls this before the first byte is written. Throwing here leaves the connection usable. Aborting would
   * close it.
   */
  onConnect(abort: (error?: Error) => void): void {
    if (this.failure) throw this.failure
    this.#sent = true
    this.#abort = abort
    this.#expectHeaders()
  }

  /** Restarts the wait for the headers: the server has read the body, so it was not silent. */
  onBodySent(): void {
    this.#expectHeaders()
  }

  onComplete(): void {
    this.forget()
    this.host.ended(this)
    if (!this.failure) this.settle()
  }

  onError(error: Error): void {
    this.host.ended(this)
    this.fail(toOutboundError(error, this.#sent))
  }

  look(nowMs: number): void {
    if (this.silentAtMs > nowMs) return
    if (this.queued) this.cut('queue_full')
    else this.cut(this.status === 0 ? 'first_byte_timeout' : 'idle_timeout')
  }

  /** Returns false for an interim response (1xx, RFC 9110 §15.2): the final headers are still to come. */
  protected begins(status: number): boolean {
    if (status >= 200) this.expect()
    else if (++this.#interims <= interimsMax) this.#expectHeaders()
    else this.cut('protocol', new Error(`more than ${interimsMax} interim responses`))
    return status >= 200
  }

  #expectHeaders(): void {
    this.silentAtMs = this.#limits.monotonicMs() + this.#limits.headersTimeoutMs
  }

  protected nowMs(): number {
    return this.#limits.monotonicMs()
  }

  /** Starts the wait for the next chunk. */
  protected expect(nowMs = this.nowMs()): void {
    this.silentAtMs = nowMs + this.#limits.bodyTimeoutMs
  }

  /** Counts a chunk. Returns false if the request has failed and the chunk must be dropped. */
  protected accept(chunk: Buffer): boolean {
    const nowMs = this.#limits.monotonicMs()
    this.bytes += chunk.length
    this.expect(nowMs)
    if (this.bytes > this.#limits.answerBytesMax) this.cut('answer_too_large')
    else if (nowMs > this.#limits.deadlineMs) this.cut('total_timeout')
    return this.failure === null
  }

  protected cut(failure: OutboundFailure, cause?: unknown): void {
    if (!this.fail(new OutboundError(failure, this.#sent, cause))) return
    if (this.queued) this.host.ended(this)
    else this.#abort?.(this.failure as OutboundError)
  }

  protected forget(): void {
    this.#signal?.removeEventListener('abort', this)
  }

  private fail(error: OutboundError): boolean {
    if (this.failure) return false
    this.failure = error
    this.forget()
    this.settle()
    return true
  }
}

const noHeaders = new AnswerHeaders([])

export class CollectedRequest extends PendingRequest {
  readonly #chunks: Buffer[] = []
  readonly #resolve: (answer: CollectedAnswer) => void
  readonly #reject: (error: OutboundError) => void

  constructor(
    limits: RequestLimits,
    signal: CancelSignal | undefined,
    host: RequestHost,
    resolve: (answer: CollectedAnswer) => void,
    reject: (error: OutboundError) => void,
  ) {
    super(limits, signal, host)
    this.#resolve = resolve
    this.#reject = reject
  }

  onHeaders(status: number, raw: Buffer[]): boolean {
    if (!this.begins(status)) return true
    this.status = status
    this.headers = new AnswerHeaders(raw)
    return true
  }

  onData(chunk: Buffer): boolean {
    if (this.accept(chunk)) this.#chunks.push(chunk)
    return true
  }

  protected settle(): void {
    if (this.failure) return this.#reject(this.failure)
    const body = this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks, this.bytes)
    this.#resolve({ status: this.status, headers: this.headers, body })
  }
}

/** At this many unread bytes the connection is paused. Also the most bytes read and dropped by `discard`. */
const bufferedBytesMax = 65_536

/**
 * The maximum number of bytes that all streams together hand to their readers in one turn of the event loop: the work
 * on them takes a few milliseconds. Organizations are served one after another, so fast streams of one organization do
 * not delay the others.
 */
const turnBytesMax = 256 * 1024
/**
 * After this many bytes, a stream's reader waits for a later turn of the event loop, which `loopTurn` assigns to its
 * organization. Streams at the speed of an LLM or of speech rarely have this much.
 */
const turnBytesMin = 16 * 1024

/** After this time without a read, a stream with waiting data is stuck. */
const stuckMs = 1000

type Waiting = { resolve: (result: IteratorResult<Uint8Array>) => void; reject: (error: OutboundError) => void }

export class StreamedRequest extends PendingRequest implements AnswerStream, AsyncIterator<Uint8Array> {
  readonly #queue: Buffer[] = []
  #buffered = 0
  /** The bytes handed to the reader since it last waited in `#turn`. */
  #turnBytes = 0
  #paused = false
  /** The last read since the pause began. Infinity without a pause, and once the stream is reported as stuck. */
  #readAtMs = Number.POSITIVE_INFINITY
  #ended = false
  #discarding = false
  #waiting: Waiting | null = null
  #resume: () => void = () => {}
  readonly #resolve: (answer: StreamedAnswer) => void
  readonly #reject: (error: OutboundError) => void

  constructor(
    limits: RequestLimits,
    signal: CancelSignal | undefined,
    host: RequestHost,
    resolve: (answer: StreamedAnswer) => void,
    reject: (error: OutboundError) => void,
  ) {
    super(limits, signal, host)
    this.#resolve = resolve
    this.#reject = reject
  }

  onHeaders(status: number, raw: Buffer[], resume: () => void): boolean {
    if (!this.begins(status)) return true
    this.#resume = resume
    this.status = status
    this.#resolve({ status, headers: new AnswerHeaders(raw), body: this })
    return true
  }

  onData(chunk: Buffer): boolean {
    // undici passes an empty chunk if it reads the rest of a response after a pause.
    if (!this.accept(chunk) || chunk.length === 0) return true
    if (this.#waiting) {
      this.#turnBytes += chunk.length
      this.#hand({ value: chunk, done: false })
    } else {
      this.#queue.push(chunk)
      this.#buffered += chunk.length
    }
    if (this.#buffered < bufferedBytesMax) return true
    if (this.#discarding) this.cut('answer_too_large')
    else this.#pause()
    return this.#discarding
  }

  override look(nowMs: number): void {
    super.look(nowMs)
    if (nowMs - this.#readAtMs < stuckMs) return
    this.#readAtMs = Number.POSITIVE_INFINITY
    this.host.stuck(this)
  }

  protected settle(): void {
    this.#ended = true
    if (this.failure && this.status === 0) this.#reject(this.failure)
    if (!this.#waiting) return
    if (this.failure) this.#waiting.reject(this.failure)
    else this.#hand({ value: undefined, done: true })
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<Uint8Array>> {
    const turn = this.#turnBytes < turnBytesMin ? null : this.#turn()
    return turn === null ? this.#read() : turn.then(() => this.#read())
  }

  /** Waits until the reader may have more bytes. Null if the reader may continue at once. */
  #turn(): Promise<void> | null {
    const cost = Math.min(1, this.#turnBytes / turnBytesMax)
    this.#turnBytes = 0
    return loopTurn(cost, this.share?.owner)
  }

  #read(): Promise<IteratorResult<Uint8Array>> {
    const chunk = this.#queue.shift()
    if (chunk) {
      this.#buffered -= chunk.length
      this.#turnBytes += chunk.length
      if (this.#paused && !this.failure) this.#noteRead()
      return Promise.resolve({ value: chunk, done: false })
    }
    if (this.failure) return Promise.reject(this.failure)
    if (this.#ended) return Promise.resolve({ value: undefined, done: true })
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject }
    })
  }

  return(): Promise<IteratorResult<Uint8Array>> {
    if (!this.#ended && !this.#discarding) this.cut('cancelled')
    this.#queue.length = 0
    return Promise.resolve({ value: undefined, done: true })
  }

  discard(): void {
    if (this.#ended) return
    this.#discarding = true
    this.forget()
    this.#queue.length = 0
    this.#buffered = 0
    if (this.#paused) this.#unpause()
  }

  #hand(result: IteratorResult<Uint8Array>): void {
    const waiting = this.#waiting
    this.#waiting = null
    waiting?.resolve(result)
  }

  /** The reader is slow, not the server, so the wait for the server stops. */
  #pause(): void {
    this.#paused = true
    this.#readAtMs = this.nowMs()
    this.silentAtMs = Number.POSITIVE_INFINITY
  }

  #noteRead(): void {
    this.share?.offer(null)
    this.#readAtMs = this.nowMs()
    if (this.#buffered === 0) this.#unpause()
  }

  #unpause(): void {
    this.#paused = false
    this.#readAtMs = Number.POSITIVE_INFINITY
    this.expect()
    this.#resume()
  }
}
