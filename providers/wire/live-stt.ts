/**
 * The life of one recognition stream over a vendor's socket, which is the same for all of them:
 *
 *   opening ──listens──► listening ──end──► ending ──finished──► over
 *      └────────────────────┴── fail, a cut, leaving ──┴───────────► over
 *
 * A failure while it opens rejects the opening; a later one goes to the sink. Two waits are bounded: for the vendor to listen, and, once no more audio
 * comes, for its next word. In between a vendor may be silent for as long as the speaker is.
 */

import { type ErrorClass, ProviderError } from '../../domain/ports/provider-error.ts'
import type { CancelSignal, Clock } from '../../domain/ports/system.ts'
import type { SttStreamSink } from '../../domain/speech/stt.ts'
import type { OutboundLimits } from '../../runtime/outbound/limits.ts'
import type { OutboundSocket } from '../../runtime/outbound/socket.ts'
import { excerpt, protocolError } from './failures.ts'
import { type JsonObject } from './json.ts'
import { jsonFrames } from './json-frames.ts'

export interface SttVendor {
  /** May throw a ProviderError. */
  frame(frame: JsonObject): void
  /** What a close with this code and reason means; null: that the stream was cut. */
  classOfClose(code: number, reason: string): ErrorClass | null
  /** Before a close is taken for a failure. For vendors without a terminal mark: it may be the end, `finished`. */
  closed?(code: number): void
  /** Once, when nothing more will be heard: timers of its own end here. */
  over?(): void
}

export type SttSocketParts = {
  socket: OutboundSocket
  sink: SttStreamSink
  signal: CancelSignal
  apiKey: string | null
  clock: Clock
  limits: Pick<OutboundLimits, 'firstByteMs' | 'idleMs'>
}

export class SttSocket {
  /** Resolves when the vendor listens. */
  readonly opened: Promise<void>
  /** The sink for what stands in a frame: a caller who closes the stream at one half of it hears nothing of the other. */
  readonly telling: Pick<SttStreamSink, 'speechStarted' | 'transcript'>
  readonly #parts: SttSocketParts
  readonly #vendor: SttVendor
  #state: 'opening' | 'listening' | 'ending' | 'over' = 'opening'
  #opening!: { resolve: () => void; reject: (error: ProviderError) => void }
  #stopWaiting: () => void

  constructor(parts: SttSocketParts, vendor: SttVendor) {
    this.#parts = parts
    this.#vendor = vendor
    this.opened = new Promise((resolve, reject) => {
      this.#opening = { resolve, reject }
    })
    this.telling = {
      speechStarted: (startMs) => {
        if (this.#state !== 'over') parts.sink.speechStarted(startMs)
      },
      transcript: (transcript) => {
        if (this.#state !== 'over') parts.sink.transcript(transcript)
      },
    }
    this.#stopWaiting = this.#wait(parts.limits.firstByteMs)
    parts.signal.addEventListener('abort', this)
    parts.socket.listen(
      jsonFrames({
        frame: (frame) => {
          if (this.#state === 'over') return
          if (this.#state === 'ending') this.#waitAgain()
          vendor.frame(frame)
        },
        failed: (error) => this.#fail(error),
        closed: (code, reason) => {
          vendor.closed?.(code)
          this.#closed(vendor.classOfClose(code, reason), code, reason)
        },
      }),
    )
  }

  get bufferedBytes(): number {
    return this.#parts.socket.bufferedBytes
  }

  get isListening(): boolean {
    return this.#state === 'listening'
  }

  send(data: string | Uint8Array): void {
    if (this.#state !== 'over') this.#parts.socket.send(data)
  }

  listens(): void {
    if (this.#state !== 'opening') return
    this.#stopWaiting()
    this.#state = 'listening'
    this.#opening.resolve()
  }

  /** `text` tells the vendor that no more audio comes. */
  end(text: string): void {
    if (this.#state !== 'listening') return
    this.#state = 'ending'
    this.send(text)
    this.#waitAgain()
  }

  /** The vendor's terminal mark has come. One that was not asked for is a failure. */
  finished(billedMs?: number): void {
    if (this.#state === 'over') return
    if (this.#state !== 'ending') return this.#fail(protocolError('the vendor ended the stream'))
    this.close()
    this.#parts.sink.ended(billedMs)
  }

  /** The vendor's own word for a failure; `frame` is for the log. */
  fail(errorClass: ErrorClass, frame: JsonObject): void {
    const cause = excerpt(JSON.stringify(frame), this.#parts.apiKey)
    this.#fail(new ProviderError(errorClass, { sent: true, cause }))
  }

  close(): void {
    if (this.#state === 'over') return
    this.#state = 'over'
    this.#vendor.over?.()
    this.#stopWaiting()
    this.#parts.signal.removeEventListener('abort', this)
    this.#parts.socket.close()
  }

  /** The caller has left. */
  handleEvent(): void {
    const isOpening = this.#state === 'opening'
    this.close()
    if (isOpening)
      this.#opening.reject(new ProviderError('cancelled', { sent: true, cause: this.#parts.signal.reason }))
  }

  #closed(errorClass: ErrorClass | null, code: number, reason: string): void {
    const cause = excerpt(`closed with ${code} ${reason}`, this.#parts.apiKey)
    this.#fail(new ProviderError(errorClass ?? 'protocol', { sent: true, cause }))
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
}
