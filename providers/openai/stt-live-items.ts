/**
 * A session cuts speech into items and transcribes several items at once, so their transcripts are completed in any
 * order. The domain expects one utterance after the other, so an item completed before the previous item waits:
 *
 *   head ──interims, final──► sink        next items: held until they are the head
 */
import type { StreamTranscript, SttStreamSink } from '../../domain/ports/stt.ts'

type Item = {
  id: unknown
  startMs: number
  /** The end of the item's speech. Null while the speech continues. */
  endMs: number | null
  text: string
  isCommitted: boolean
  isDone: boolean
}

/** The maximum number of items without a transcript. A server with more waiting items is treated as failed. */
const itemsMax = 256

export class RealtimeItems {
  readonly #sink: Pick<SttStreamSink, 'transcript'>
  readonly #interim: boolean
  #items: Item[] = []
  #utterance = 0
  #lastEndMs = 0

  constructor(interim: boolean, sink: Pick<SttStreamSink, 'transcript'>) {
    this.#interim = interim
    this.#sink = sink
  }

  get isEmpty(): boolean {
    return this.#items.length === 0
  }

  get isTooLong(): boolean {
    return this.#items.length > itemsMax
  }

  started(id: unknown, startMs: number): void {
    this.#find(id, startMs).startMs = startMs
  }

  stopped(id: unknown, endMs: number): void {
    this.#find(id, endMs).endMs = endMs
  }

  /**
   * Marks an item as committed. If the server reported no end for the item, it ends at `nowMs`, the audio's length so
   * far.
   */
  committed(id: unknown, nowMs: number): void {
    const item = this.#find(id, this.#items.at(-1)?.endMs ?? this.#lastEndMs)
    item.isCommitted = true
    item.endMs ??= nowMs
  }

  delta(id: unknown, delta: string): void {
    const item = this.#items.find((each) => each.id === id)
    if (!item || delta === '') return
    item.text += delta
    if (item === this.#items[0]) this.#reportInterim(item)
  }

  completed(id: unknown, transcript: string): void {
    const item = this.#items.find((each) => each.id === id)
    if (!item) return
    item.text = transcript
    item.isDone = true
    this.#advance()
  }

  /** Drops items never committed, because they get no transcript. */
  forgetUncommitted(): void {
    this.#items = this.#items.filter(({ isCommitted }) => isCommitted)
    this.#advance()
  }

  #find(id: unknown, startMs: number): Item {
    const existing = this.#items.find((each) => each.id === id)
    if (existing) return existing
    const item: Item = { id, startMs, endMs: null, text: '', isCommitted: false, isDone: false }
    this.#items.push(item)
    return item
  }

  #advance(): void {
    const before = this.#items[0]
    for (let head = before; head?.isDone; head = this.#items[0]) {
      this.#items.shift()
      this.#reportFinal(head)
    }
    const head = this.#items[0]
    if (head && head !== before) this.#reportInterim(head)
  }

  #reportInterim({ text, startMs, endMs }: Item): void {
    if (!this.#interim || text.trim() === '') return
    this.#sink.transcript(this.#transcript(text, startMs, endMs, false))
  }

  /** Reports an item's final transcript. An item with only silence is not an utterance. */
  #reportFinal({ text, startMs, endMs }: Item): void {
    if (text.trim() === '') return
    const transcript = this.#transcript(text, startMs, endMs, true)
    this.#lastEndMs = transcript.endMs
    this.#utterance++
    this.#sink.transcript(transcript)
  }

  #transcript(text: string, startMs: number, endMs: number | null, isFinal: boolean): StreamTranscript {
    const end = Math.max(startMs, endMs ?? startMs)
    return { utterance: this.#utterance, text: text.trim(), isFinal, speechFinal: isFinal, startMs, endMs: end }
  }
}
