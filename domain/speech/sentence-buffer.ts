import { charactersOf } from './characters.ts'

/**
 * Cuts text that comes in pieces into sentences that can be spoken one by one. The sentences, joined, are exactly the
 * text that came in, so a position in the speech is a position in the text.
 *
 * A sentence ends at . ! ? ; : before white space, at a line break and at a CJK stop. A full stop after a single letter
 * or a common abbreviation ends none. A stop at the end of a piece ends none either, because pieces are tokens of a model:
 * "example", "." and "com" are one address. `flush` ends the rest.
 */
export class SentenceBuffer {
  readonly #takesWholePieces: boolean
  #text = ''

  /**
   * `wholePieces`: the pieces may be sentences of a client that sends no flush. So a piece that begins a sentence, and
   * whose last word is a plain word, ends it.
   */
  constructor({ wholePieces = false } = {}) {
    this.#takesWholePieces = wholePieces
  }

  /** Characters that wait for the end of their sentence. */
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

  /** The rest of the text; '' when nothing is left. */
  flush(): string {
    return this.#take(this.#text.length)
  }

  #take(end: number): string {
    const sentence = this.#text.slice(0, end)
    this.#text = this.#text.slice(end)
    return sentence
  }
}

/** A longer sentence is cut: its first sound would come late, and providers limit the length of a text. */
const sentenceCharactersMax = 400

/** A match begins where its run of stops begins: from each stop of a long run, the rest would be read again. */
const endings = /(?<![.!?;:…])[.!?;:…]+["'”’»)\]]*\s+|[。！？；：]["'”’」』）]*|\n/g
/** An apostrophe within a word, as in "Anna's.", begins none. */
const abbreviation =
  /(?:^|[\s("“‘.\-–]|(?<!\p{L})')(?:\p{L}|mr|mrs|ms|dr|prof|st|mt|no|vs|etc|approx|inc|ltd|jr|sr|sra|dept|fig|gen|rev|capt|lt|col|sgt|gov|ext|bzw|nr|av)\.[ \t]*$/iu
/** "1." begins a list item. */
const numberAlone = /^\s*\d+\.[ \t]*$/
/** A longer word is an address, or nothing that is spoken. */
const wordCharactersMax = 64
/** The last word is no address, and no number that may go on. */
const plainEnd =
  /^[^\p{L}\p{N}]*(?:\p{L}[\p{L}\p{M}'’-]*["'”’»)\]]*[.!?…]+|[\p{L}\p{N}][\p{L}\p{M}\p{N}'’-]*["'”’»)\]]*[!?]+)["'”’»)\]]*$/u
/** A capital, or several words. */
const sentenceStart = /^[^\p{L}\p{N}]*[\p{Lu}\p{Lo}]|\S\s+\S/u

function isWhole(piece: string): boolean {
  return plainEnd.test(lastWord(piece)) && sentenceStart.test(piece) && !abbreviation.test(piece)
}

/** Empty if it is too long. A piece may be one character, so the whole text is not read again for each. */
function lastWord(piece: string): string {
  const words = piece.slice(-wordCharactersMax).split(/\s/)
  const word = words.at(-1) ?? ''
  return words.length > 1 || piece.length <= wordCharactersMax ? word : ''
}

/** The end of the first sentence of `text`, with the white space after it; 0 when no sentence has ended yet. */
function sentenceEnd(text: string): number {
  endings.lastIndex = 0
  const start = text.slice(0, sentenceCharactersMax + 1)
  for (let match = endings.exec(start); match; match = endings.exec(start)) {
    const end = endings.lastIndex
    if (end > sentenceCharactersMax) break
    const head = text.slice(0, end)
    if (isSpeakable(head) && !abbreviation.test(head) && !numberAlone.test(head)) return end
  }
  return text.length > sentenceCharactersMax ? cutAt(text.slice(0, sentenceCharactersMax)) : 0
}

/**
 * Whether a voice has anything to say: for punctuation and emoji alone a provider answers silence, which is not a
 * failure.
 */
export function isSpeakable(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text)
}

/**
 * After the last comma in the last two thirds, else after the last space, else anywhere except inside a surrogate pair.
 */
function cutAt(head: string): number {
  const comma = Math.max(head.lastIndexOf(', '), head.lastIndexOf('，'), head.lastIndexOf('、')) + 1
  if (comma > head.length / 3) return comma
  const space = head.lastIndexOf(' ') + 1
  if (space > 0) return space
  return /[\ud800-\udbff]$/.test(head) ? head.length - 1 : head.length
}
