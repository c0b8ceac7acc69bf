/**
 * One stream of live recognition over a vendor's socket. The life of a stream is the same for every vendor and is
 * here; a vendor adds a `LiveSttVendor`, which holds only what that vendor's protocol differs in.
 *
 *   opening ──ready──► streaming ──end──► ending ──finished──► over
 *      └──────────────────┴── fail, a cut, a cancel ──┴──────────► over
 *
 * A failure during the opening rejects it; a later failure goes to the sink. Two waits are bounded: until the vendor
 * is ready, and, after the end of the audio, until its next frame. In between a vendor may be silent for as long as
 * the speaker is.
 */
import { type ErrorClass, ProviderError } from '../../domain/ports/provider-error.ts'
import type { Stt, SttStream, SttStreamRequest, SttStreamSink } from '../../domain/ports/stt.ts'
import type { CancelSignal, Clock } from '../../domain/ports/system.ts'
import type { OutboundLimits } from '../../runtime/outbound/limits.ts'
import type { OutboundSocket } from '../../runtime/outbound/socket.ts'
import { closeFailure, frameFailure, protocolError } from './failures.ts'
import type { JsonObject } from './json.ts'
import { jsonFrames } from './json-frames.ts'
import type { KeepAlive, SocketTransport } from './socket.ts'

/** How a vendor's stream is opened for one request. */
export type LiveSttVendor = {
  /** Path and query of the socket. */
  path: string
  /** The first message. Absent: the path holds the whole configuration. */
  start?: string
  /** True for a vendor that takes audio as soon as the socket is open. Absent: one of its frames calls `ready`. */
  isReadyAtOnce?: true
  /** Sent while the stream is ready and idle. Absent: this vendor waits without it. */
  keepAlive?: KeepAlive
  /** Bytes of the caller's audio in one byte that is sent. Absent: 1. */
  bytesInPerSent?: number
  /** Makes the protocol of one stream. The stream is not open yet. */
  protocol: (stream: ProtocolStream) => LiveSttProtocol
}

export type Message = string | Uint8Array

/**
 * The messages of one vendor's protocol. Each of the first three members returns the message to send, or null for
 * none; a protocol that has several sends the others itself first. They are called while the vendor takes audio, and
 * never with empty audio: to some vendors an empty message is the end of the stream.
 */
export interface LiveSttProtocol {
  /** The bytes are lent until it returns. Absent: audio is sent as it came. */
  audio?(bytes: Uint8Array): Message | null
  /** Ends the utterance now. */
  flush(): Message | null
  /** Says that no more audio comes. */
  end(): Message
  /** One frame of the vendor. May throw a ProviderError. */
  frame(frame: JsonObject): void
  /** The meaning of a close with this code and reason; null: the stream was cut. */
  classOfClose(code: number, reason: string): ErrorClass | null
  /**
   * Called before a close counts as a failure. For vendors without a terminal frame: the close may be the end,
   * `finished`.
   */
  closed?(code: number): void
  /**
   * Is called when a keep-alive is due. Absent: the stream is idle when no audio came since the last keep-alive was
   * due.
   */
  isIdle?(): boolean
  /** Called once, when the stream is over: the protocol's own timers end here. */
  over?(): void
}

/**
 * The side of a stream that its protocol sees. After the stream is over, nothing that is reported here reaches the
 * sink.
 */
export interface ProtocolStream extends Pick<SttStreamSink, 'speechStarted' | 'transcript'> {
  /** The vendor takes audio now. */
  readonly isStreaming: boolean
  readonly isOver: boolean
  readonly clock: Clock
  /** Bytes of the caller's audio so far. */
  readonly audioBytes: number
  /** Bytes that wait to be written to the socket. */
  readonly unsentBytes: number
  /** How often the keep-alive was sent. */
  readonly keepAlives: number
  send(message: Message): void
  /** The vendor is ready for audio. Calls after the first have no effect. */
  ready(): void
  /** The vendor's terminal frame has come. One that was not asked for is a failure. */
  finished(billedMs?: number): void
  /** The vendor reported a failure; `frame` is for the log. */
  fail(errorClass: ErrorClass, frame: JsonObject): void
}

export type LiveSttOptions = {
  sockets: SocketTransport
  apiKey: string | null
  clock: Clock
  limits: Pick<OutboundLimits, 'firstByteMs' | 'idleMs'>
}

export type LiveSttParts = Omit<LiveSttOptions, 'sockets'> & {
  socket: OutboundSocket
  sink: SttStreamSink
  signal: CancelSignal
}

/** The `open` of a vendor's port. `vendorOf` may throw a ProviderError for a request that the vendor cannot serve. */
export function createLiveStt(
  options: LiveSttOptions,
  vendorOf: (request: SttStreamRequest) => LiveSttVendor,
): NonNullable<Stt['open']> {
  return async (request, sink, signal) => openLiveStt(options, vendorOf(request), sink, signal)
}

/** The `transcribe` of a vendor that takes live audio only. */
export const refuseRecordings: Stt['transcribe'] = () =>
  Promise.reject(new ProviderError('unsupported', { sent: false, cause: 'live speech only' }))

/** Resolves when the vendor is ready. Rejects with ProviderError. */
export async function openLiveStt(
  { sockets, ...options }: LiveSttOptions,
  vendor: LiveSttVendor,
  sink: SttStreamSink,
  signal: CancelSignal,
): Promise<SttStream> {
  const socket = await sockets.open(options.apiKey, { path: vendor.path }, signal)
  const stream = new LiveSttStream({ ...options, socket, sink, signal }, vendor)
  await stream.opened
  return stream
}

export class LiveSttStream implements SttStream, ProtocolStream {
  /** Resolves when the vendor is ready. */
  readonly opened: Promise<void>
  audioBytes = 0
  keepAlives = 0
  #state: 'opening' | 'streaming' | 'ending' | 'over' = 'opening'
  /** No audio came since the last keep-alive was due. */
  #isIdle = true
  readonly #socket: OutboundSocket
  readonly #protocol: LiveSttProtocol
  readonly #keepAlive: KeepAlive | undefined
  readonly #bytesInPerSent: number
  readonly #parts: LiveSttParts
  #opening!: { resolve: () => void; reject: (error: ProviderError) => void }
  #stopWaiting: () => void
  #stopKeepingAlive: () => void = () => {}

  constructor(parts: LiveSttParts, vendor: LiveSttVendor) {
    this.#parts = parts
    this.#keepAlive = vendor.keepAlive
    this.#bytesInPerSent = vendor.bytesInPerSent ?? 1
    this.#socket = parts.socket
    this.opened = new Promise((resolve, reject) => {
      this.#opening = { resolve, reject }
    })
    this.#stopWaiting = this.#wait(parts.limits.firstByteMs)
    this.#protocol = vendor.protocol(this)
    parts.signal.addEventListener('abort', this)
    parts.socket.listen(this.#frames())
    if (vendor.start !== undefined) this.send(vendor.start)
    if (vendor.isReadyAtOnce) this.ready()
  }

  get isStreaming(): boolean {
    return this.#state === 'streaming'
  }

  get isOver(): boolean {
    return this.#state === 'over'
  }

  get clock(): Clock {
    return this.#parts.clock
  }

  get unsentBytes(): number {
    return this.#socket.bufferedBytes
  }

  get bufferedBytes(): number {
    return Math.floor(this.#socket.bufferedBytes * this.#bytesInPerSent)
  }

  audio(bytes: Uint8Array): void {
    if (this.#state !== 'streaming' || bytes.length === 0) return
    this.#isIdle = false
    this.audioBytes += bytes.length
    const message = this.#protocol.audio ? this.#protocol.audio(bytes) : bytes
    if (message !== null) this.#socket.send(message)
  }

  flush(): void {
    if (this.#state !== 'streaming') return
    const message = this.#protocol.flush()
    if (message !== null) this.#socket.send(message)
  }

  end(): void {
    if (this.#state !== 'streaming') return
    this.#stopKeepingAlive()
    const message = this.#protocol.end()
    this.#state = 'ending'
    this.#socket.send(message)
    this.#waitAgain()
  }

  close(): void {
    if (this.#state === 'over') return
    this.#state = 'over'
    this.#protocol.over?.()
    this.#stopKeepingAlive()
    this.#stopWaiting()
    this.#parts.signal.removeEventListener('abort', this)
    this.#socket.close()
  }

  /** The cancel signal was raised. */
  handleEvent(): void {
    const isOpening = this.#state === 'opening'
    this.close()
    if (isOpening)
      this.#opening.reject(new ProviderError('cancelled', { sent: true, cause: this.#parts.signal.reason }))
  }

  send(message: Message): void {
    if (this.#state !== 'over') this.#socket.send(message)
  }

  ready(): void {
    if (this.#state !== 'opening') return
    this.#stopWaiting()
    this.#state = 'streaming'
    if (this.#keepAlive) this.#keepAliveLater(this.#keepAlive)
    this.#opening.resolve()
  }

  speechStarted(startMs: number): void {
    if (this.#state !== 'over') this.#parts.sink.speechStarted(startMs)
  }

  /** A caller who closes the stream on one transcript of a frame gets no other of that frame. */
  transcript(transcript: Parameters<SttStreamSink['transcript']>[0]): void {
    if (this.#state !== 'over') this.#parts.sink.transcript(transcript)
  }

  finished(billedMs?: number): void {
    if (this.#state === 'over') return
    if (this.#state !== 'ending') return this.#fail(protocolError('the vendor ended the stream'))
    this.close()
    this.#parts.sink.ended(billedMs)
  }

  fail(errorClass: ErrorClass, frame: JsonObject): void {
    this.#fail(frameFailure(errorClass, frame, this.#parts.apiKey))
  }

  #frames() {
    return jsonFrames({
      frame: (frame) => {
        if (this.#state === 'over') return
        if (this.#state === 'ending') this.#waitAgain()
        this.#protocol.frame(frame)
      },
      failed: (error) => this.#fail(error),
      closed: (code, reason) => {
        this.#protocol.closed?.(code)
        const errorClass = this.#protocol.classOfClose(code, reason)
        this.#fail(closeFailure(errorClass, code, reason, this.#parts.apiKey))
      },
    })
  }

  #fail(error: ProviderError): void {
    if (this.#state === 'over') return
    const isOpening = this.#state === 'opening'
    this.close()
    if (isOpening) this.#opening.reject(error)
    else this.#parts.sink.failed(error)
  }

  #waitAgain(): void {
    this.#stopWaiting()
    this.#stopWaiting = this.#wait(this.#parts.limits.idleMs)
  }

  #wait(ms: number): () => void {
    return this.#parts.clock.after(ms, () => this.#fail(new ProviderError('timeout', { sent: true })))
  }

  /** One timer looks from time to time whether audio still comes, so that a frame sets no timer. */
  #keepAliveLater(keepAlive: KeepAlive): void {
    this.#stopKeepingAlive = this.#parts.clock.after(keepAlive.everyMs, () => {
      if (this.#state !== 'streaming') return
      if (this.#protocol.isIdle ? this.#protocol.isIdle() : this.#isIdle) {
        this.#socket.send(keepAlive.text)
        this.keepAlives++
      }
      this.#isIdle = true
      this.#keepAliveLater(keepAlive)
    })
  }
}

/** A close that no side was forced to: 1000, or 1005 for a close without a code (RFC 6455 §7.4.1). */
export const isOrderlyClose = (code: number): boolean => code === 1000 || code === 1005
