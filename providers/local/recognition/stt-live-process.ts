/** The parent's side for a child process that recognizes several streams. */

import { ProviderError } from '../../../domain/ports/provider-error.ts'
import type { SttStream, SttStreamSink } from '../../../domain/ports/stt.ts'
import type { CancelSignal, Clock } from '../../../domain/ports/system.ts'
import { AudioLayout } from '../../../domain/speech/audio-layout.ts'
import type { Place } from '../../../runtime/shares/capacity.ts'
import { type EngineEntry, SpeechEngineProcess } from '../children/speech-engine-process.ts'
import type { FromStreamChild, StreamInput, ToStreamChild } from './stt-live-messages.ts'

export type StreamChildOptions = {
  entry: EngineEntry
  /** The arguments for the entry file. */
  args?: readonly string[] | undefined
  /** The time limit for a child to load its models and do a first recognition. A slower child is killed. */
  openMs: number
  /** If a child needs longer than this to close a stream or to exit, it is stuck and is killed. */
  stopMs: number
  clock: Clock
  /** Called when the last stream has closed. */
  onIdle: () => void
}

export class StreamChild {
  readonly #options: StreamChildOptions
  readonly #process: SpeechEngineProcess<ToStreamChild, FromStreamChild>
  readonly #streams = new Map<number, ChildStream>()
  #lastId = 0

  constructor(options: StreamChildOptions) {
    this.#options = options
    this.#process = new SpeechEngineProcess<ToStreamChild, FromStreamChild>(options.entry, {
      args: options.args,
      onMessage: (message) => this.#streams.get(message.id)?.message(message),
      onEnd: (error) => {
        for (const stream of [...this.#streams.values()]) stream.fail(error)
      },
    })
  }

  /** Resolves when the process has ended, with the signal's name or the exit code. */
  get exited(): Promise<string> {
    return this.#process.exited
  }

  get pid(): number | undefined {
    return this.#process.pid
  }

  /** False once the process was asked to exit, or killed. */
  get alive(): boolean {
    return this.#process.alive
  }

  /** The number of open streams. Closing streams do not count. */
  get streams(): number {
    let count = 0
    for (const { closing } of this.#streams.values()) if (!closing) count++
    return count
  }

  /** Loads the models before the first stream. */
  load(): void {
    this.#process.send({ type: 'load' })
  }

  /** Asks the child to exit. If it is still running after `stopMs`, it is killed. */
  end(): void {
    this.#process.end(this.#options.clock, this.#options.stopMs)
  }

  /**
   * Opens a stream. Resolves when the child is ready for audio. Rejects with ProviderError. When the stream ends,
   * `place`, the stream's reserved capacity, is released.
   */
  open(input: StreamInput, place: Place, sink: SttStreamSink, signal: CancelSignal): Promise<SttStream> {
    const id = ++this.#lastId
    return new Promise((resolve, reject) => {
      const stream = new ChildStream({
        layout: new AudioLayout(input.audio),
        place,
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

type StreamMessage = { type: 'audio'; bytes: Uint8Array } | { type: 'flush' } | { type: 'end' } | { type: 'close' }

type StreamParts = {
  layout: AudioLayout
  place: Place
  sink: SttStreamSink
  signal: CancelSignal
  opening: { resolve: (stream: SttStream) => void; reject: (error: ProviderError) => void }
  options: StreamChildOptions
  send: (message: StreamMessage) => void
  kill: () => void
  onGone: () => void
}

/**
 * A stream's states are `opening` → `open` → `closing` (`close` was sent to the child) → `gone`. If the child ends or
 * fails, the state becomes `gone` from any state.
 */
class ChildStream implements SttStream {
  /** The total size, as AudioLayout counts it, of all frames not yet read by the child. */
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
    this.bufferedBytes += this.#parts.layout.weightOf(bytes)
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
    const { options, place, send, kill } = this.#parts
    this.#endTimer()
    this.#state = 'closing'
    place.end()
    send({ type: 'close' })
    this.#endTimer = options.clock.after(options.stopMs, kill)
  }

  /** Called when the cancel signal aborts. */
  handleEvent(): void {
    this.#giveUp('cancelled', this.#parts.signal.reason)
  }

  message(message: FromStreamChild): void {
    if (message.type === 'closed') return this.#gone()
    if (message.type === 'failed') return this.fail(failure(message))
    if (this.#state === 'opening' && message.type === 'opened') return this.#opened()
    if (this.#state === 'open') this.#messageWhileOpen(message)
  }

  /** Called when the child has exited, or when the child has ended this stream. */
  fail(error: ProviderError): void {
    const state = this.#state
    this.#gone()
    if (state === 'opening') this.#parts.opening.reject(error)
    if (state === 'open') this.#parts.sink.failed(error)
  }

  #messageWhileOpen(message: Exclude<FromStreamChild, { type: 'closed' | 'failed' }>): void {
    const { sink } = this.#parts
    switch (message.type) {
      case 'opened':
        return
      case 'taken':
        this.bufferedBytes -= message.weight
        return
      case 'speechStarted':
        return sink.speechStarted(message.startMs)
      case 'transcript':
        return sink.transcript(message.transcript)
      case 'ended':
        this.#gone()
        return sink.ended()
    }
  }

  #opened(): void {
    this.#endTimer()
    this.#state = 'open'
    this.#parts.opening.resolve(this)
  }

  #giveUp(errorClass: 'cancelled' | 'timeout', cause: unknown): void {
    if (this.#state === 'opening') this.#parts.opening.reject(new ProviderError(errorClass, { sent: false, cause }))
    this.close()
  }

  #gone(): void {
    if (this.#state === 'gone') return
    this.#state = 'gone'
    this.#parts.place.end()
    this.#endTimer()
    this.#parts.signal.removeEventListener('abort', this)
    this.#parts.onGone()
  }
}

const failure = ({ errorClass, message }: Extract<FromStreamChild, { type: 'failed' }>) =>
  new ProviderError(errorClass, { sent: true, cause: new Error(message) })
