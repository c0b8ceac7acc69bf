/**
 * Reads a text once from its start to its end. At each position, the first matching rule supplies the words; otherwise
 * a word or a character is copied. The result maps each spoken word to its position in the text.
 *
 *   text    It costs 5€.
 *   spoken  It costs five euros.      "five euros" comes from "5€", and the other words from themselves
 */
import type { Language } from './language.ts'
import { readable } from './letters.ts'
import type { Rule, Start } from './rule.ts'
import { TracedText } from './traced-text.ts'

export class Reader {
  readonly #language: Language
  readonly #rules: Readonly<Record<Start, readonly Rule[]>>

  constructor(language: Language, rules: readonly Rule[]) {
    this.#language = language
    const beginning = (start: Start) => rules.filter(({ starts }) => starts.includes(start))
    this.#rules = {
      digit: beginning('digit'),
      letter: beginning('letter'),
      sign: beginning('sign'),
      space: beginning('space'),
    }
  }

  /** Returns null if the voice can read no word in the text. */
  read(text: string): TracedText | null {
    const speech = new Speech(text)
    for (let at = 0; at < text.length; ) at = this.#step(text, at, speech)
    return speech.hasWords ? speech.traced : null
  }

  /** Reads one written form (such as "5 km"), one word or one character, and returns the position after it. */
  #step(text: string, at: number, speech: Speech): number {
    const start = startOf(text, at)
    const isInsideWord = start === 'letter' && at > 0 && /[\p{L}\p{M}]/u.test(characterBefore(text, at))
    for (const { pattern, say } of isInsideWord ? [] : this.#rules[start]) {
      pattern.lastIndex = at
      const match = pattern.exec(text)
      const words = match === null || match[0] === '' ? null : say(match)
      if (match === null || words === null) continue
      addWords(speech, words, match[0], at)
      return at + match[0].length
    }
    return start === 'space' ? this.#skip(text, at, speech) : this.#copy(text, at, speech)
  }

  #skip(text: string, at: number, speech: Speech): number {
    const space = matchAt(/\s+/y, text, at)
    speech.space(space.includes('\n') ? '\n' : ' ', at + space.length)
    return at + space.length
  }

  #copy(text: string, at: number, speech: Speech): number {
    const character = String.fromCodePoint(text.codePointAt(at) ?? 0)
    const end = at + character.length
    const plain = readable(character, this.#language)
    const { foreign, sign } = this.#language.phrases
    if (plain === null) {
      const word = matchAt(/[\p{L}\p{M}]{1,200}/uy, text, at)
      speech.placeholder(foreign, at + word.length)
      return at + word.length
    }
    if (plain === undefined) speech.placeholder(sign, end)
    else speech.character(plain, end)
    return end
  }
}

/**
 * Adds the words for a written form. A last word that is spoken as written has a separate position: "10:30 a.m." ends
 * in two steps.
 */
function addWords(speech: Speech, words: string, form: string, at: number): void {
  const [gap = '', last = ''] = /\s+(\S+)$/.exec(form) ?? []
  const isSame = last !== '' && words.endsWith(` ${last}`)
  if (isSame) {
    const end = at + form.length - gap.length
    speech.words(words.slice(0, -last.length - 1), end)
    speech.space(' ', end + gap.length - last.length)
  }
  speech.words(isSame ? last : words, at + form.length)
}

function startOf(text: string, at: number): Start {
  const character = String.fromCodePoint(text.codePointAt(at) ?? 0)
  if (/\s/.test(character)) return 'space'
  if (character >= '0' && character <= '9') return 'digit'
  return /\p{L}/u.test(character) ? 'letter' : 'sign'
}

function characterBefore(text: string, at: number): string {
  const last = text[at - 1] ?? ''
  return /[\udc00-\udfff]/.test(last) ? text.slice(at - 2, at) : last
}

function matchAt(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0] ?? ''
}

/** The spoken text. Words from rules are separated from their neighbours by spaces. */
class Speech {
  readonly traced: TracedText
  /** True if the text has a word beside placeholders. */
  hasWords = false
  /** The last character, or '' at the start. */
  #last = ''
  /** The positions in the source after the last spoken text, and after the text that was read so far. */
  #spokenEnd = 0
  #end = 0
  /** White space that is written before the next word, but not before punctuation. */
  #space = ''
  /** True if the last text is from a rule, so a letter after it needs a space. */
  #isWord = false

  constructor(source: string) {
    this.traced = new TracedText(source)
  }

  words(words: string, end: number): void {
    this.placeholder(words, end)
    if (isWord(words)) this.hasWords = true
  }

  /** Adds the name of a kind of characters that cannot be read. */
  placeholder(words: string, end: number): void {
    const isJoined = /^[,.!?]/.test(words) || this.#last === '' || /[\s("'-]/.test(this.#last)
    if (words !== '' && !isJoined && this.#space === '') this.#space = ' '
    this.#add(words, end)
    if (words !== '') this.#isWord = true
  }

  space(space: string, end: number): void {
    if (this.#last !== '' && !/\s/.test(this.#last) && this.#space !== '\n') this.#space = space
    this.#end = end
  }

  character(text: string, end: number): void {
    if (this.#isWord && /^[\p{L}\p{N}(]/u.test(text) && this.#space === '') this.#space = ' '
    this.#add(text, end)
    if (isWord(text)) this.hasWords = true
  }

  #add(text: string, end: number): void {
    if (text !== '') {
      if (this.#space !== '' && (!/^[,.!?;:)]/.test(text) || this.#space === '\n')) this.#put(this.#space, this.#end)
      this.#space = ''
      this.#isWord = false
      this.#put(text, end)
    }
    this.#end = end
  }

  #put(text: string, end: number): void {
    if (this.traced.source.slice(this.#spokenEnd, end) === text) this.traced.copy(end)
    else this.traced.put(text, end)
    this.#spokenEnd = end
    this.#last = text.slice(-1)
  }
}

const isWord = (text: string) => /[\p{L}\p{N}]/u.test(text)
