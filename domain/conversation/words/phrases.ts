/** Finds a language's phrases at the end of a text, or matches a whole text. */

/** Matches a character in a script without spaces between words. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u

export function isUnspaced(text: string): boolean {
  return unspaced.test(text)
}

/**
 * Converts to lower case without punctuation, with one space between words. An apostrophe joins: "it's" becomes "its".
 */
export function plain(text: string): string {
  return text
    .normalize('NFC')
    .toLowerCase()
    .replaceAll(/['’‘ʼ]/g, '')
    .replaceAll(/[^\p{L}\p{M}\p{N}]+/gu, ' ')
    .trim()
}

/**
 * Returns the plain text with each hyphen as a space, and with joined words, because recognizers write "voice-mail" as
 * well as "voicemail", and "voulez-vous" as well as "voulez vous".
 */
export function hyphenSpellings(text: string): readonly string[] {
  const joined = text.replaceAll(/[-‐‑]/g, '')
  return joined === text ? [plain(text)] : [plain(text), plain(joined)]
}

export class Phrases {
  readonly #phrases: ReadonlySet<string>
  readonly #lengthMax: number
  readonly #wordsMax: number

  /** Each list has entries with `|` between them. */
  constructor(...lists: readonly string[]) {
    this.#phrases = new Set(lists.flatMap((list) => list.split('|').map(plain)))
    this.#lengthMax = Math.max(...[...this.#phrases].map((phrase) => phrase.length))
    this.#wordsMax = Math.max(...[...this.#phrases].map((phrase) => phrase.split(' ').length))
  }

  /** Counts the phrases in a plain text. Returns null if it has other words, or more than `max` phrases. */
  countIn(text: string, max: number): number | null {
    const spaced = !isUnspaced(text)
    const joined = spaced ? text : text.replaceAll(' ', '')
    let rest = joined
    for (let count = 0; count <= max; count++) {
      if (rest === '') return count
      const phrase = this.#longest(
        rest,
        (length) => rest.slice(0, length),
        (length) => spaced && rest[length] !== ' ',
      )
      if (phrase === null) return null
      rest = rest.slice(phrase.length).trimStart()
    }
    return null
  }

  /** Returns true if a phrase occurs anywhere in the plain text. */
  within(text: string): boolean {
    const words = text.split(' ')
    return words.some((_word, at) => this.#beginAt(words, at) !== null)
  }

  /** Returns the longest phrase at the beginning of the plain text, or null. */
  begin(text: string): string | null {
    const spaced = !isUnspaced(text)
    return this.#longest(
      text,
      (length) => text.slice(0, length),
      (length) => spaced && text[length] !== ' ',
    )
  }

  /** Returns the plain text without the phrases in it. */
  takenOutOf(text: string): string {
    const words = text.split(' ')
    const kept: string[] = []
    for (let at = 0; at < words.length; ) {
      const phrase = this.#beginAt(words, at)
      if (phrase === null) kept.push(words[at] as string)
      at += phrase?.split(' ').length ?? 1
    }
    return kept.join(' ')
  }

  /** Reads only as many words as the longest phrase has, so a long text costs linear time. */
  #beginAt(words: readonly string[], at: number): string | null {
    return this.begin(words.slice(at, at + this.#wordsMax).join(' '))
  }

  /** Returns true if the plain text ends with a phrase. */
  end(text: string): boolean {
    const spaced = !isUnspaced(text)
    const isInside = (length: number) => spaced && text[text.length - length - 1] !== ' '
    return this.#longest(text, (length) => text.slice(text.length - length), isInside) !== null
  }

  #longest(text: string, cut: (length: number) => string, isInsideWord: (length: number) => boolean): string | null {
    for (let length = Math.min(text.length, this.#lengthMax); length > 0; length--) {
      if (length < text.length && isInsideWord(length)) continue
      const phrase = cut(length)
      if (this.#phrases.has(phrase)) return phrase
    }
    return null
  }
}
