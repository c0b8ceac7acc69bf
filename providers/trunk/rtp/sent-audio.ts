/** The audio that waits to be sent to a leg at the pace of the line, and the account of how much was sent. */
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
  /** Sent since the last mark. */
  #bytesSince = 0

  constructor(events: Pick<MediaSink, 'played' | 'cleared'>) {
    this.#events = events
  }

  /** Samples at 8 kHz, which are copied. More than two minutes are dropped. */
  frame(samples: Int16Array): void {
    this.#playout.add(new Uint8Array(samples.slice().buffer))
  }

  mark(name: string): void {
    this.#playout.mark(name)
  }

  /** The next 20 ms, or what there is of them, lent until the next call. A mark has passed when the frame before it lasted its 20 ms. */
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
    // The marks that a clear makes due were not played.
    while (this.#playout.due() !== null) continue
    // The conversation is not called from inside its call.
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
