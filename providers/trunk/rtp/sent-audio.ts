/** Queues the audio to be sent to a leg in real time, and counts the audio already sent. */
import { Playout } from '../../../audio/line-playout.ts'
import type { MediaSink } from '../../../domain/ports/media.ts'

const frameSamples = 160
const bytesPerMs = 16

export class SentAudio {
  readonly #events: Pick<MediaSink, 'played' | 'cleared'>
  readonly #playout = new Playout()
  readonly #frame = new Int16Array(frameSamples)
  readonly #bytes = new Uint8Array(this.#frame.buffer)
  #lastMark: string | null = null
  /** Bytes sent since the last mark. */
  #bytesSince = 0

  constructor(events: Pick<MediaSink, 'played' | 'cleared'>) {
    this.#events = events
  }

  /** Copies the samples (8 kHz). If four minutes of audio already wait, new samples are dropped. */
  frame(samples: Int16Array): void {
    this.#playout.add(new Uint8Array(samples.slice().buffer))
  }

  mark(name: string): void {
    this.#playout.mark(name)
  }

  /**
   * Returns the next 20 ms, or less if less is queued. The result is valid until the next call. A mark counts as played
   * 20 ms after the frame before it was sent, because a frame lasts 20 ms.
   */
  take(): Int16Array {
    for (const name of this.#passed()) this.#events.played(name)
    const count = this.#playout.take(this.#bytes)
    this.#bytesSince += count
    return this.#frame.subarray(0, count / 2)
  }

  clear(): void {
    this.#passed()
    this.#playout.clear()
    const [mark, sinceMs] = [this.#lastMark, Math.round(this.#bytesSince / bytesPerMs)]
    // `clear` makes the remaining marks due, but their audio was not played, so the marks are dropped.
    while (this.#playout.due() !== null) continue
    // The conversation is calling this method, so `cleared` is called only after the method has returned.
    queueMicrotask(() => this.#events.cleared(mark, sinceMs))
  }

  #passed(): string[] {
    const names: string[] = []
    for (let name = this.#playout.due(); name !== null; name = this.#playout.due()) names.push(name)
    const last = names.at(-1)
    if (last === undefined) return names
    this.#lastMark = last
    this.#bytesSince = 0
    return names
  }
}
