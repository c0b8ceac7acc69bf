/**
 * Voice activity detection by one child process for all sessions in this process. Every `tickMs`, one message sends all
 * streams' frames, and one message returns the answers. If the child dies, it is replaced, and the streams continue
 * with a new model state.
 */
import type { Clock, Log } from '../../../domain/ports/system.ts'
import { type Vad, type VadStream, vadFrameSamples } from '../../../domain/ports/vad.ts'
import { SpeechEngineProcess } from '../children/speech-engine-process.ts'
import { usualFrames, VadFrames } from './vad-frames.ts'
import type { VadAnswer, VadBatch } from './vad-messages.ts'

export type LocalVadOptions = {
  /** The child is ended if it has had no stream for this long. */
  idleMs: number
  clock: Clock
  log: Log
}

/**
 * The pause between two batches. A frame's answer is delayed by up to this time, but even 100 sessions need at most 200
 * messages a second.
 */
const tickMs = 5
/** The maximum number of frames in a batch: 16 s of one stream, half a megabyte. */
const batchFramesMax = 512
/** A child is killed if a batch gets no answer for this long. The time includes the process's start. */
const answerMsMax = 10_000
/** The wait before the next start if a child dies before its first answer. */
const restartMs = 5000
const stopMs = 2000

export interface WarmVad extends Vad {
  /** Starts the child. It ends after `idleMs` without a stream. */
  warmUp(): void
}

export function createLocalVad(options: LocalVadOptions): WarmVad {
  return new LocalVad(options)
}

type Child = SpeechEngineProcess<VadBatch, VadAnswer>
type Sent = { stream: LocalVadStream; frame: number }

class LocalVad implements WarmVad {
  readonly #options: LocalVadOptions
  readonly #streams = new Map<number, LocalVadStream>()
  /** Streams with unsent whole frames. The stream served last is at the end. */
  readonly #waiting = new Set<LocalVadStream>()
  readonly #samples = new Int16Array(batchFramesMax * vadFrameSamples)
  readonly #ids = new Uint32Array(batchFramesMax)
  #closedIds: number[] = []
  #lastId = 0
  #child: Child | undefined
  /** The batch sent to the child and not answered yet. Empty if the child has no batch. */
  #sent: Sent[] = []
  #sentAtMs = 0
  #cancelTick: (() => void) | undefined
  #cancelIdle: (() => void) | undefined
  #cancelRestart: (() => void) | undefined
  #closed = false

  constructor(options: LocalVadOptions) {
    this.#options = options
  }

  open(onFrame: (speechProbability: number) => void): VadStream {
    const id = ++this.#lastId
    this.#cancelIdle?.()
    this.#cancelIdle = undefined
    const stream = new LocalVadStream(id, {
      onFrame,
      hasChild: () => this.#child !== undefined,
      onWaiting: () => this.#await(stream),
      onClose: () => this.#forget(stream),
    })
    this.#streams.set(id, stream)
    this.#startIfNeeded()
    return stream
  }

  warmUp(): void {
    if (this.#streams.size > 0 || this.#closed) return
    this.#startIfNeeded()
    this.#endWhenIdle()
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const cancel of [this.#cancelTick, this.#cancelIdle, this.#cancelRestart]) cancel?.()
    for (const stream of [...this.#streams.values()]) stream.close()
    const child = this.#child
    child?.end(this.#options.clock, stopMs)
    await child?.exited
  }

  #await(stream: LocalVadStream): void {
    this.#waiting.add(stream)
    this.#cancelTick ??= this.#options.clock.after(tickMs, () => this.#tick())
  }

  #tick(): void {
    this.#cancelTick = undefined
    if (this.#sent.length === 0) return this.#send()
    if (this.#options.clock.monotonicMs() - this.#sentAtMs > answerMsMax) this.#child?.kill()
  }

  #send(): void {
    if (!this.#child?.alive || this.#waiting.size === 0) return
    for (const stream of [...this.#waiting]) this.#take(stream)
    const count = this.#sent.length
    this.#child.send({
      streams: this.#ids.subarray(0, count),
      samples: this.#samples.subarray(0, count * vadFrameSamples),
      closed: this.#closedIds,
    })
    this.#closedIds = []
    this.#sentAtMs = this.#options.clock.monotonicMs()
  }

  #take(stream: LocalVadStream): void {
    this.#waiting.delete(stream)
    while (stream.frames.waiting > 0 && this.#sent.length < batchFramesMax) {
      const at = this.#sent.length
      this.#ids[at] = stream.id
      this.#sent.push({ stream, frame: stream.frames.send(this.#samples, at * vadFrameSamples) })
    }
    if (stream.frames.waiting > 0) this.#waiting.add(stream)
  }

  #answer({ probabilities }: VadAnswer): void {
    const sent = this.#sent
    this.#sent = []
    sent.forEach(({ stream, frame }, i) => stream.answer(frame, probabilities[i]!))
    if (sent.length === batchFramesMax) this.#send()
    else if (this.#waiting.size > 0) this.#cancelTick ??= this.#options.clock.after(tickMs, () => this.#tick())
  }

  #forget(stream: LocalVadStream): void {
    this.#streams.delete(stream.id)
    this.#waiting.delete(stream)
    if (this.#child) this.#closedIds.push(stream.id)
    if (this.#streams.size > 0 || this.#closed) return
    this.#endWhenIdle()
  }

  #endWhenIdle(): void {
    const { clock, idleMs } = this.#options
    this.#cancelIdle?.()
    this.#cancelIdle = clock.after(idleMs, () => this.#child?.end(clock, stopMs))
  }

  /** Starts a child process if there is no child. An earlier child's unanswered frames are sent again. */
  #startIfNeeded(): void {
    if (this.#child?.alive || this.#cancelRestart || this.#closed) return
    let answered = false
    const child: Child = new SpeechEngineProcess<VadBatch, VadAnswer>('vad-child', {
      onMessage: (answer) => {
        if (child !== this.#child) return
        answered = true
        this.#answer(answer)
      },
      onEnd: (error) => this.#ended(child, answered, error.cause),
    })
    this.#child = child
    this.#sent = []
    this.#closedIds = []
    for (const stream of this.#streams.values()) stream.rewind()
    const { log } = this.#options
    const fields = { entry: 'vad-child', childPid: child.pid }
    log.info(fields, 'speech child started')
    void child.exited.then((how) => log.info({ ...fields, how }, 'speech child ended'))
  }

  #ended(child: Child, answered: boolean, cause: unknown): void {
    if (child !== this.#child) return
    this.#child = undefined
    for (const stream of this.#streams.values()) stream.quiet()
    if (this.#closed || this.#streams.size === 0) return
    const { clock, log } = this.#options
    log.warn({ err: cause }, 'voice activity detection starts again')
    this.#cancelRestart = clock.after(answered ? 0 : restartMs, () => {
      this.#cancelRestart = undefined
      if (this.#streams.size > 0) this.#startIfNeeded()
    })
  }
}

type StreamParts = {
  onFrame: (speechProbability: number) => void
  /** Returns true if a child exists and will answer, perhaps late. */
  hasChild: () => boolean
  onWaiting: () => void
  onClose: () => void
}

class LocalVadStream implements VadStream {
  readonly id: number
  readonly frames = new VadFrames()
  readonly #parts: StreamParts
  #last = 0
  #closed = false

  constructor(id: number, parts: StreamParts) {
    this.id = id
    this.#parts = parts
  }

  push(samples: Int16Array): void {
    for (let at = 0; at < samples.length && !this.#closed; ) {
      // If too many frames are unanswered, the oldest frame gets the same answer as the frame before it, because the
      // calling code counts time by frames. While a child loads its model, frames wait, because speech in a session's
      // first seconds would otherwise be lost.
      while (this.frames.full || this.#isAbandoned()) this.answer(this.frames.oldest, this.#last)
      at += this.frames.write(samples.subarray(at))
    }
    if (this.frames.waiting > 0 && !this.#closed) this.#parts.onWaiting()
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#parts.onClose()
  }

  answer(frame: number, probability: number): void {
    if (this.#closed || !this.frames.answered(frame)) return
    this.#last = probability
    this.#parts.onFrame(probability)
  }

  /** True if the stream's frames are late and no child process is there to answer them. */
  #isAbandoned(): boolean {
    return this.frames.unanswered >= usualFrames && !this.#parts.hasChild()
  }

  /** Called when the child has ended. Frames answered without a child then get the speech probability 0. */
  quiet(): void {
    this.#last = 0
  }

  rewind(): void {
    this.frames.rewind()
    if (this.frames.waiting > 0) this.#parts.onWaiting()
  }
}
