/**
 * One live recognition stream over a vendor's socket. All vendors' streams have the same life cycle, implemented here.
 * A vendor adds a `LiveSttVendor` with only the differences in its protocol.
 *
 *   opening ──ready──► streaming ──end──► ending ──finished──► over
 *      └──────────────────┴── fail, a cut, a cancel ──┴──────────► over
 *
 * If the opening fails, its promise rejects; a later failure is reported to the sink. Two waits have a time limit:
 * until the vendor is ready and, after the audio's end, until the vendor's next frame. In between there is no limit,
 * because a vendor sends no frames while the speaker is silent.
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

/** The values to open a vendor's stream for one request. */
export type LiveSttVendor = {
  /** The socket's path and query. */
  path: string
  /** The first message. Absent if the path contains the whole configuration. */
  start?: string
  /**
   * True if the vendor accepts audio as soon as the socket is open. Absent if the protocol calls `ready` at one of the
   * vendor's frames.
   */
  isReadyAtOnce?: true
  /** The keep-alive message, sent while the stream is ready and idle. Absent if this vendor needs no keep-alive. */
  keepAlive?: KeepAlive
  /** The number of audio bytes from the client for each byte sent to the vendor. 1 if absent. */
  bytesInPerSent?: number
  /** Makes the protocol for one stream. The stream is not open yet. */
  protocol: (stream: ProtocolStream) => LiveSttProtocol
}

export type Message = string | Uint8Array

/**
 * One vendor's protocol messages. `audio`, `flush` and `end` return the message to send, or null for no message. If a
 * protocol needs several messages, it sends all but the last message itself before it returns. These members are called
 * only while the vendor accepts audio, and never with empty audio, because to some vendors an empty message ends the
 * stream.
 */
export interface LiveSttProtocol {
  /**
   * Makes an audio message. The bytes are only valid until this method returns. If the method is absent, audio is sent
   * unchanged.
   */
  audio?(bytes: Uint8Array): Message | null
  /** Makes the message to end the utterance now. */
  flush(): Message | null
  /** Makes the message after the last audio. */
  end(): Message
  /** Handles one vendor frame. May throw a ProviderError. */
  frame(frame: JsonObject): void
  /**
   * Returns the error class for a close with this code and reason, or null if the connection was lost without a close.
   */
  classOfClose(code: number, reason: string): ErrorClass | null
  /**
   * Called at a close, before it counts as a failure. If the vendor marks the stream's end only by a close, this method
   * must call `finished`.
   */
  closed?(code: number): void
  /**
   * Called when a keep-alive is due. If absent, the stream is idle if no audio came since the last keep-alive was due.
   */
  isIdle?(): boolean
  /** Called once, when the stream is over. The protocol must stop its timers here. */
  over?(): void
}

/** The stream's methods for a vendor's protocol. After the stream is over, these methods report no more to the sink. */
export interface ProtocolStream extends Pick<SttStreamSink, 'speechStarted' | 'transcript'> {
  /** True if the vendor accepts audio now. */
  readonly isStreaming: boolean
  readonly isOver: boolean
  readonly clock: Clock
  /** The number of audio bytes from the client so far. */
  readonly audioBytes: number
  /** The number of bytes not yet written to the socket. */
  readonly unsentBytes: number
  /** The number of sent keep-alives. */
  readonly keepAlives: number
  send(message: Message): void
  /** To be called when the vendor is ready for audio. Calls after the first have no effect. */
  ready(): void
  /** To be called at the vendor's last frame. If `end` was not called before, this counts as a failure. */
  finished(billedMs?: number): void
  /** To be called when the vendor reports a failure. `frame` is for the log. */
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

/**
 * Makes the `open` function in the domain's `Stt` interface for a vendor. `vendorOf` may throw a ProviderError if the
 * vendor cannot serve the request.
 */
export function createLiveStt(
  options: LiveSttOptions,
  vendorOf: (request: SttStreamRequest) => LiveSttVendor,
): NonNullable<Stt['open']> {
  return async (request, sink, signal) => openLiveStt(options, vendorOf(request), sink, signal)
}

/** The `transcribe` function in the domain's `Stt` interface, for a vendor with live audio only: it always rejects. */
export const refuseRecordings: Stt['transcribe'] = () =>
  Promise.reject(new ProviderError('unsupported', { sent: false, cause: 'live speech only' }))

/** Opens a stream. Resolves when the vendor is ready. Rejects with ProviderError. */
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
  /** True if no audio came since the last keep-alive was due. */
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

  /** Called when the cancel signal aborts. */
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

  /**
   * Passes a transcript to the sink. If the sink closes the stream at a transcript, it gets no other transcript from
   * this frame.
   */
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

  /**
   * Sends keep-alives. One timer checks at each interval if audio was sent, so that no timer is needed for each audio
   * frame.
   */
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

/** True for a normal close: 1000, or 1005 if the close has no code (RFC 6455 §7.4.1). */
export const isOrderlyClose = (code: number): boolean => code === 1000 || code === 1005
