/**
 * A text that is made from another one piece by piece, and that knows which place of its source each of its places comes
 * from. Places are counts of UTF-16 code units.
 *
 *   source  Dr. Wu pays €5 now          put('5 euros') for "€5": the place behind "5" is still in front of "€5",
 *   text    Dr. Wu pays 5 euros now     and the place behind "euros" is the one behind it
 */
type Edit = { at: number; end: number; sourceAt: number; sourceEnd: number }

export class TracedText {
  readonly source: string
  #text = ''
  #sourceEnd = 0
  readonly #edits: Edit[] = []

  constructor(source: string) {
    this.source = source
  }

  get text(): string {
    return this.#text
  }

  /** Takes the source as it is, up to this place of it. */
  copy(sourceEnd = this.source.length): this {
    this.#text += this.source.slice(this.#sourceEnd, sourceEnd)
    this.#sourceEnd = sourceEnd
    return this
  }

  /** Takes `text` instead of the source up to this place of it. */
  put(text: string, sourceEnd: number): this {
    const at = this.#text.length
    this.#edits.push({ at, end: at + text.length, sourceAt: this.#sourceEnd, sourceEnd })
    this.#text += text
    this.#sourceEnd = sourceEnd
    return this
  }

  /**
   * The part of the source that is spoken for sure when the first `place` units of the text are. Source that was left
   * out right behind them belongs to it.
   */
  sourcePlace(place: number): number {
    const edit = this.#edits.findLast(({ at, end }) => at < place || end === place)
    if (edit === undefined) return place
    return place < edit.end ? edit.sourceAt : edit.sourceEnd + place - edit.end
  }
}
