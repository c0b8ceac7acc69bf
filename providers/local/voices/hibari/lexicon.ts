/**
 * The pronunciations of 179,000 words, as one sorted table in a buffer. As JavaScript objects these words need 160 MB.
 * deploy/hibari-data.mjs writes the table and describes its format.
 */

/** The contexts in which a word can have a special pronunciation, in the order of the table's bits. */
const variants = ['usual', 'clauseEnd', 'verb', 'noun', 'participle', 'past'] as const
type Variant = (typeof variants)[number]

/** A word's pronunciations. Each word has the usual one. */
export type Pronunciations = Partial<Record<Variant, string>> & { usual: string }

export class Lexicon {
  readonly #table: Buffer
  readonly #blockCount: number
  /** The phoneme for each id. */
  readonly #phonemes: readonly string[]

  constructor(table: Buffer, phonemes: readonly string[]) {
    this.#table = table
    this.#blockCount = table.readUInt32LE(0)
    this.#phonemes = phonemes
  }

  /** Searches for the word as it is spelled, in lower case, and with a capital letter. */
  find(word: string): Pronunciations | undefined {
    const lower = word.toLowerCase()
    return this.#exact(word) ?? this.#exact(lower) ?? this.#exact(lower.charAt(0).toUpperCase() + lower.slice(1))
  }

  #exact(word: string): Pronunciations | undefined {
    const block = this.#blockOf(word)
    const end = this.#startOf(block + 1)
    let letters = ''
    for (let at = this.#startOf(block); at < end; ) {
      const rest = this.#table.readUInt8(at + 1)
      letters = letters.slice(0, this.#table.readUInt8(at)) + this.#table.toString('latin1', at + 2, at + 2 + rest)
      const entry = this.#entryAt(at + 2 + rest, letters === word)
      if (entry.pronunciations) return entry.pronunciations
      at = entry.end
    }
    return undefined
  }

  /** Returns the last block whose first word is not after the searched word. */
  #blockOf(word: string): number {
    let low = 0
    let high = this.#blockCount - 1
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if (this.#firstWord(middle) <= word) low = middle
      else high = middle - 1
    }
    return low
  }

  #startOf(block: number): number {
    return block < this.#blockCount ? this.#table.readUInt32LE(4 + 4 * block) : this.#table.length
  }

  #firstWord(block: number): string {
    const at = this.#startOf(block)
    return this.#table.toString('latin1', at + 2, at + 2 + this.#table.readUInt8(at + 1))
  }

  /** Reads or skips the pronunciations at this position. `end` is the next entry's position. */
  #entryAt(place: number, isWanted: boolean): { pronunciations?: Pronunciations; end: number } {
    const bits = this.#table.readUInt8(place)
    const pronunciations: Pronunciations = { usual: '' }
    let at = place + 1
    for (const [bit, variant] of variants.entries()) {
      if ((bits & (1 << bit)) === 0) continue
      const length = this.#table.readUInt8(at)
      if (isWanted) pronunciations[variant] = this.#text(at + 1, length)
      at += 1 + length
    }
    return isWanted ? { pronunciations, end: at } : { end: at }
  }

  #text(from: number, length: number): string {
    let text = ''
    for (const id of this.#table.subarray(from, from + length)) text += this.#phonemes[id] ?? ''
    return text
  }
}
