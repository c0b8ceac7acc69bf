import { charactersOf } from './characters.ts'
import { isAbbreviation, isOrdinal } from './reading/abbreviations.ts'

/**
 * Cuts text into sentences for speech. Text arrives in pieces. The joined sentences are exactly the incoming text, so a
 * position in the speech is a position in the text.
 *
 * A sentence ends at . ! ? ; : before white space, at a line break and at a CJK stop. It does not end at a full stop
 * after a single letter, a common abbreviation or a German ordinal. A stop does not end the sentence if it is the last
 * character of a piece, because pieces are a model's tokens: "example", "." and "com" are one address.
 */
export class SentenceBuffer {
  readonly #takesWholePieces: boolean
  #text = ''

  /**
   * `wholePieces` is true if the client sends whole sentences without flushes. Then the end of a piece also ends the
   * sentence, if the piece begins a sentence and its last word is a plain word.
   */
  constructor({ wholePieces = false } = {}) {
    this.#takesWholePieces = wholePieces
  }

  /** Counts the characters in the incomplete sentence. */
  get characters(): number {
    return charactersOf(this.#text)
  }

  push(text: string): string[] {
    const isBegun = isSpeakable(this.#text)
    this.#text += text
    const whole: string[] = []
    for (let end = sentenceEnd(this.#text); end > 0; end = sentenceEnd(this.#text)) whole.push(this.#take(end))
    const begins = this.#takesWholePieces && (!isBegun || whole.length > 0)
    if (begins && isWhole(this.#text)) whole.push(this.#take(this.#text.length))
    return whole
  }

  /** Returns the rest of the text, or ''. */
  flush(): string {
    return this.#take(this.#text.length)
  }

  #take(end: number): string {
    const sentence = this.#text.slice(0, end)
    this.#text = this.#text.slice(end)
    return sentence
  }
}

/** Sentences longer than this are cut, because their first sound would be late, and providers limit a text's length. */
const sentenceCharactersMax = 400

/**
 * Finds a possible end of a sentence. A match must begin at the first stop in a run of stops. If it could begin at each
 * stop, a long run would be read again each time.
 */
const endings = /(?<![.!?;:…])[.!?;:…]+["'”’»)\]]*\s+|[。！？；：]["'”’」』）]*|\n/g
/** Matches a number that begins a list item, as in "1.". */
const numberAlone = /^\s*\d+\.[ \t]*$/
/** A word longer than this is a web address or is not speakable. */
const wordCharactersMax = 64
/** Matches the last word with its stop, except for addresses and numbers, which may continue in the next piece. */
const plainEnd =
  /^[^\p{L}\p{N}]*(?:\p{L}[\p{L}\p{M}'’-]*["'”’»)\]]*[.!?…]+|[\p{L}\p{N}][\p{L}\p{M}\p{N}'’-]*["'”’»)\]]*[!?]+)["'”’»)\]]*$/u
/** Matches the start of a sentence: a capital letter, or several words. */
const sentenceStart = /^[^\p{L}\p{N}]*[\p{Lu}\p{Lo}]|\S\s+\S/u

function isWhole(piece: string): boolean {
  return plainEnd.test(lastWord(piece)) && sentenceStart.test(piece) && !isAbbreviation(piece, '')
}

/**
 * Returns the piece's last word, or '' if it is too long. Pieces may be single characters, so the whole text must not
 * be read again for each piece.
 */
function lastWord(piece: string): string {
  const words = piece.slice(-wordCharactersMax).split(/\s/)
  const word = words.at(-1) ?? ''
  return words.length > 1 || piece.length <= wordCharactersMax ? word : ''
}

/**
 * Returns where the first sentence in `text` ends, including the white space after it. 0 if no sentence has ended yet.
 */
function sentenceEnd(text: string): number {
  endings.lastIndex = 0
  const start = text.slice(0, sentenceCharactersMax + 1)
  for (let match = endings.exec(start); match; match = endings.exec(start)) {
    const end = endings.lastIndex
    if (end > sentenceCharactersMax) break
    const head = text.slice(0, end)
    if (!isSpeakable(head) || numberAlone.test(head)) continue
    const tail = head.slice(-wordCharactersMax)
    const behind = text.slice(end, end + wordCharactersMax)
    if (!isAbbreviation(tail, behind) && !isOrdinal(tail, behind)) return end
  }
  return text.length > sentenceCharactersMax ? cutAt(text.slice(0, sentenceCharactersMax)) : 0
}

/**
 * Returns true if the text has a letter or a digit to speak. For punctuation and emoji alone, a provider returns
 * silence, which is not a failure.
 */
export function isSpeakable(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text)
}

/**
 * Returns the position for a cut: after the last comma in the last two thirds, else after the last space, else anywhere
 * except inside a surrogate pair.
 */
function cutAt(head: string): number {
  const comma = Math.max(head.lastIndexOf(', '), head.lastIndexOf('，'), head.lastIndexOf('、')) + 1
  if (comma > head.length / 3) return comma
  const space = head.lastIndexOf(' ') + 1
  if (space > 0) return space
  return /[\ud800-\udbff]$/.test(head) ? head.length - 1 : head.length
}
