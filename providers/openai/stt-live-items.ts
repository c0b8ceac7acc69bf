/**
 * A session cuts speech into items and transcribes several at once; their ends are told in any order. The domain is told one utterance after the
 * other, so an item that is done before the one in front of it waits:
 *
 *   head ──partials, final──► told        next items: held until they are the head
 */
import type { StreamTranscript } from '../../domain/speech/stt.ts'

type Item = {
  id: unknown
  startMs: number
  /** Null while the speaker goes on. */
  endMs: number | null
  text: string
  isCommitted: boolean
  isDone: boolean
}

/** Speech that was cut and not yet transcribed; more is a server that has lost its way. */
const itemsMax = 256

export class RealtimeItems {
  readonly #tell: (transcript: StreamTranscript) => void
  readonly #interim: boolean
  #items: Item[] = []
  #utterance = 0
  #lastEndMs = 0

  constructor(interim: boolean, tell: (transcript: StreamTranscript) => void) {
    this.#interim = interim
    this.#tell = tell
  }

  /** Nothing is waited for. */
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

  /** `nowMs`: how much audio there is, where the session said nothing of the speaker. */
  committed(id: unknown, nowMs: number): void {
    const item = this.#find(id, this.#items.at(-1)?.endMs ?? this.#lastEndMs)
    item.isCommitted = true
    item.endMs ??= nowMs
  }

  delta(id: unknown, delta: string): void {
    const item = this.#items.find((each) => each.id === id)
    if (!item || delta === '') return
    item.text += delta
    if (item === this.#items[0]) this.#tellPartial(item)
  }

  completed(id: unknown, transcript: string): void {
    const item = this.#items.find((each) => each.id === id)
    if (!item) return
    item.text = transcript
    item.isDone = true
    this.#advance()
  }

  /** What was never committed has no transcript to come. */
  forgetUncommitted(): void {
    this.#items = this.#items.filter(({ isCommitted }) => isCommitted)
    this.#advance()
  }

  #find(id: unknown, startMs: number): Item {
    const known = this.#items.find((each) => each.id === id)
    if (known) return known
    const item: Item = { id, startMs, endMs: null, text: '', isCommitted: false, isDone: false }
    this.#items.push(item)
    return item
  }

  #advance(): void {
    const before = this.#items[0]
    for (let head = before; head?.isDone; head = this.#items[0]) {
      this.#items.shift()
      this.#tellFinal(head)
    }
    const head = this.#items[0]
    if (head && head !== before) this.#tellPartial(head)
  }

  #tellPartial({ text, startMs, endMs }: Item): void {
    if (!this.#interim || text.trim() === '') return
    this.#tell(this.#transcript(text, startMs, endMs, false))
  }

  /** Silence that was cut is no utterance. */
  #tellFinal({ text, startMs, endMs }: Item): void {
    if (text.trim() === '') return
    const transcript = this.#transcript(text, startMs, endMs, true)
    this.#lastEndMs = transcript.endMs
    this.#utterance++
    this.#tell(transcript)
  }

  #transcript(text: string, startMs: number, endMs: number | null, isFinal: boolean): StreamTranscript {
    const end = Math.max(startMs, endMs ?? startMs)
    return { utterance: this.#utterance, text: text.trim(), isFinal, speechFinal: isFinal, startMs, endMs: end }
  }
}
