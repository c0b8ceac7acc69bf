/**
 * A text made piece by piece from a source text. It maps each position back to a position in the source, in UTF-16 code
 * units.
 *
 *   source  Dr. Wu pays €5 now          put('5 euros') for "€5": the position after "5" is still before "€5",
 *   text    Dr. Wu pays 5 euros now     and the position after "euros" is the position after "€5"
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

  /** Adds the source unchanged, up to `sourceEnd` in it. */
  copy(sourceEnd = this.source.length): this {
    this.#text += this.source.slice(this.#sourceEnd, sourceEnd)
    this.#sourceEnd = sourceEnd
    return this
  }

  /** Adds `text` in place of the source up to `sourceEnd`. */
  put(text: string, sourceEnd: number): this {
    const at = this.#text.length
    this.#edits.push({ at, end: at + text.length, sourceAt: this.#sourceEnd, sourceEnd })
    this.#text += text
    this.#sourceEnd = sourceEnd
    return this
  }

  /**
   * Returns the position up to which the source is certainly spoken when the text's first `place` code units are
   * spoken. If source text was left out right after these units, it counts as spoken.
   */
  sourcePlace(place: number): number {
    const edit = this.#edits.findLast(({ at, end }) => at < place || end === place)
    if (edit === undefined) return place
    return place < edit.end ? edit.sourceAt : edit.sourceEnd + place - edit.end
  }
}
