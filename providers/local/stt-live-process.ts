/** The parent's side of a child that recognises several streams. */

import { ProviderError } from '../../domain/ports/provider-error.ts'
import type { CancelSignal, Clock } from '../../domain/ports/system.ts'
import type { SttStream, SttStreamSink } from '../../domain/speech/stt.ts'
import { EngineProcess } from './engine-process.ts'
import type { FromStreamChild, StreamInput, ToStreamChild } from './stt-live-messages.ts'

export type StreamChildOptions = {
  /** Models are loaded and a first recognition is done within it, or the child is killed. */
  openMs: number
  /** How long a closed stream may take to be put away before the child counts as stuck. */
  stopMs: number
  clock: Clock
  /** The last stream is gone. */
  onIdle: () => void
}

export class StreamChild {
  readonly #options: StreamChildOptions
  readonly #process: EngineProcess<ToStreamChild, FromStreamChild>
  readonly #streams = new Map<number, ChildStream>()
  #lastId = 0

  constructor(options: StreamChildOptions) {
    this.#options = options
    this.#process = new EngineProcess<ToStreamChild, FromStreamChild>('stt-live-child', {
      onMessage: (message) => this.#streams.get(message.id)?.hear(message),
      onEnd: (error) => {
        for (const stream of [...this.#streams.values()]) stream.fail(error)
      },
    })
  }

  /** How it ended. */
  get exited(): Promise<string> {
    return this.#process.exited
  }

  get pid(): number | undefined {
    return this.#process.pid
  }

  /** False as soon as it has been told to die. */
  get alive(): boolean {
    return this.#process.alive
  }

  /** Those that still want to be heard. */
  get streams(): number {
    let count = 0
    for (const { closing } of this.#streams.values()) if (!closing) count++
    return count
  }

  kill(): void {
    this.#process.kill()
  }

  /** Resolves when the child listens. Rejects with ProviderError. */
  open(input: StreamInput, sink: SttStreamSink, signal: CancelSignal): Promise<SttStream> {
    const id = ++this.#lastId
    return new Promise((resolve, reject) => {
      const stream = new ChildStream({
        sink,
        signal,
        opening: { resolve, reject },
        options: this.#options,
        send: (message) => this.#process.send({ ...message, id }),
        kill: () => this.#process.kill(),
        onGone: () => {
          this.#streams.delete(id)
          if (this.#streams.size === 0) this.#options.onIdle()
        },
      })
      this.#streams.set(id, stream)
      this.#process.send({ type: 'open', id, input })
    })
  }
}

type Call = { type: 'audio'; bytes: Uint8Array } | { type: 'flush' } | { type: 'end' } | { type: 'close' }

type StreamParts = {
  sink: SttStreamSink
  signal: CancelSignal
  opening: { resolve: (stream: SttStream) => void; reject: (error: ProviderError) => void }
  options: StreamChildOptions
  send: (call: Call) => void
  kill: () => void
  onGone: () => void
}

/** `opening` → `open` → `closing` (the child has been told) → `gone`; a child's end or failure leads to `gone` from anywhere. */
class ChildStream implements SttStream {
  bufferedBytes = 0
  #state: 'opening' | 'open' | 'closing' | 'gone' = 'opening'
  readonly #parts: StreamParts
  #endTimer: () => void

  constructor(parts: StreamParts) {
    this.#parts = parts
    const { clock, openMs } = parts.options
    this.#endTimer = clock.after(openMs, () => {
      this.#giveUp('timeout', undefined)
      parts.kill()
    })
    parts.signal.addEventListener('abort', this)
  }

  get closing(): boolean {
    return this.#state === 'closing'
  }

  audio(bytes: Uint8Array): void {
    if (this.#state !== 'open') return
    this.bufferedBytes += bytes.length
    this.#parts.send({ type: 'audio', bytes })
  }

  flush(): void {
    if (this.#state === 'open') this.#parts.send({ type: 'flush' })
  }

  end(): void {
    if (this.#state === 'open') this.#parts.send({ type: 'end' })
  }

  close(): void {
    if (this.#state !== 'opening' && this.#state !== 'open') return
    const { options, send, kill } = this.#parts
    this.#endTimer()
    this.#state = 'closing'
    send({ type: 'close' })
    this.#endTimer = options.clock.after(options.stopMs, kill)
  }

  /** The caller's signal. */
  handleEvent(): void {
    this.#giveUp('cancelled', this.#parts.signal.reason)
  }

  hear(message: FromStreamChild): void {
    if (message.type === 'closed') return this.#leave()
    if (message.type === 'failed') return this.fail(failure(message.message))
    if (this.#state === 'opening' && message.type === 'opened') return this.#listen()
    if (this.#state === 'open') this.#hearOpen(message)
  }

  /** The child has ended, or this stream in it. */
  fail(error: ProviderError): void {
    const state = this.#state
    this.#leave()
    if (state === 'opening') this.#parts.opening.reject(error)
    if (state === 'open') this.#parts.sink.failed(error)
  }

  #hearOpen(message: Exclude<FromStreamChild, { type: 'closed' | 'failed' }>): void {
    const { sink } = this.#parts
    switch (message.type) {
      case 'opened':
        return
      case 'taken':
        this.bufferedBytes -= message.bytes
        return
      case 'speechStarted':
        return sink.speechStarted(message.startMs)
      case 'transcript':
        return sink.transcript(message.transcript)
      case 'ended':
        this.#leave()
        return sink.ended()
    }
  }

  #listen(): void {
    this.#endTimer()
    this.#state = 'open'
    this.#parts.opening.resolve(this)
  }

  #giveUp(errorClass: 'cancelled' | 'timeout', cause: unknown): void {
    if (this.#state === 'opening') this.#parts.opening.reject(new ProviderError(errorClass, { sent: false, cause }))
    this.close()
  }

  #leave(): void {
    if (this.#state === 'gone') return
    this.#state = 'gone'
    this.#endTimer()
    this.#parts.signal.removeEventListener('abort', this)
    this.#parts.onGone()
  }
}

const failure = (message: string) => new ProviderError('server', { sent: true, cause: new Error(message) })
