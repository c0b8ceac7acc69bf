/**
 * Finds the words or characters reported by a vendor in the spoken text. Vendors leave out punctuation and spaces, so
 * only letters and digits must match. If a piece does not match, the vendor has changed the text, and no later position
 * can be found.
 */
export class TextCursor {
  readonly #characters: readonly { character: string; place: number }[]
  readonly #length: number
  #next = 0
  #isLost = false

  constructor(text: string) {
    this.#characters = [...text.matchAll(/./gsu)].map(({ 0: character, index }) => ({ character, place: index }))
    this.#length = text.length
  }

  /** Returns the position after the next piece, in UTF-16 code units, or null if the piece does not match the text. */
  behind(piece: string): number | null {
    for (const character of piece) this.#take(character)
    return this.#isLost ? null : this.#place
  }

  #take(character: string): void {
    if (/\s/.test(character)) return
    while (/\s/.test(this.#current)) this.#next += 1
    if (this.#current === character) this.#next += 1
    else if (isOfWord(character)) this.#takeOfWord(character)
  }

  #takeOfWord(character: string): void {
    while (this.#next < this.#characters.length && !isOfWord(this.#current)) this.#next += 1
    this.#isLost ||= this.#current.toLowerCase() !== character.toLowerCase()
    this.#next += 1
  }

  get #place(): number {
    return this.#characters[this.#next]?.place ?? this.#length
  }

  get #current(): string {
    return this.#characters[this.#next]?.character ?? ''
  }
}

const isOfWord = (character: string) => /[\p{L}\p{M}\p{N}]/u.test(character)
