/** Chooses a word's pronunciation by the words around it. */
import type { Lexicon } from './lexicon.ts'
import type { UnknownWords } from './unknown-words.ts'
import { byStem } from './word-endings.ts'

/** The sound that follows a word. `end` means that a clause ends after the word. */
export type NextSound = 'vowel' | 'consonant' | 'end'

/** The words around a word. A missing word is empty. */
export type Context = { before: string; secondBefore: string; after: string; next: NextSound }

/** A word with several pronunciations is a verb after one of these words: "to record", "please record", "he lives". */
const beforeVerb = wordSet(
  'to please will can could would should must may might shall do does did not i you we they he she it who let then or',
)
/** A word with several pronunciations is a noun after one of these words: "the use", "of content". */
const beforeNoun = wordSet('the a an this that my your his her our their its no of in for with on any some each every')
const beforeParticiple = wordSet("have has had be been being was were is are i've we've you've they've")
const articles = wordSet('a an')
/** Words in capital letters or without a vowel are spelled up to this length. Longer words are read as words. */
const spelledLettersMax = 5

export class Pronunciation {
  readonly #lexicon: Lexicon
  readonly #unknown: UnknownWords

  constructor(lexicon: Lexicon, unknown: UnknownWords) {
    this.#lexicon = lexicon
    this.#unknown = unknown
  }

  /** Returns the word's phonemes. Empty if the word has no sound. */
  async of(word: string, context: Context): Promise<string> {
    const lower = word.toLowerCase()
    const known = functionWord(word, context) ?? this.#spelled(word, context) ?? this.#find(word, context)
    if (known !== undefined) return known
    return byStem(lower, (stem) => this.#find(stem, context)) ?? (await this.#unknown.read(lower))
  }

  /** True if the lexicon has this spelling, such as "t-shirt". */
  knows(word: string): boolean {
    return this.#lexicon.find(word) !== undefined
  }

  #find(word: string, { before, secondBefore, after, next }: Context): string | undefined {
    const found = this.#lexicon.find(word)
    if (found === undefined) return undefined
    if (next === 'end' && found.clauseEnd) return found.clauseEnd
    if (found.past && after === 'to' && !beforeParticiple.has(before)) return found.past
    if (found.participle && beforeParticiple.has(before)) return found.participle
    if (found.verb && beforeVerb.has(before)) return found.verb
    if (found.noun && (beforeNoun.has(before) || (articles.has(secondBefore) && !beforeVerb.has(before))))
      return found.noun
    return found.usual
  }

  /** Spells abbreviations, words without a vowel, and single letters. */
  #spelled(word: string, { before, next }: Context): string | undefined {
    const letters = word.replaceAll('.', '')
    const isUnreadable = /^[A-Z]+$/.test(letters) || /^[bcdfghjklmnpqrstvwxz]+$/.test(letters)
    const isSpelled = isUnreadable && letters.length <= spelledLettersMax && !this.knows(letters)
    if (!isSpelled && letters.length > 1 && !/^(?:[A-Za-z]\.)+[A-Za-z]?$/.test(word)) return undefined
    const sounds = [...letters.toUpperCase()].map((letter) => this.#lexicon.find(letter)?.usual ?? '')
    // At the beginning of a sentence, "A" is the article and not the letter's name.
    if (word === 'A' && before === '' && next !== 'end') return 'ɐ'
    return sounds.map((sound, at) => (at === sounds.length - 1 ? sound : lessStressed(sound))).join('')
  }
}

/** Pronounces the most frequent words, which change with the next sound. */
function functionWord(word: string, { next, before }: Context): string | undefined {
  switch (word.toLowerCase()) {
    case 'a':
      return word === 'a' ? 'ɐ' : undefined
    case 'an':
      return 'ɐn'
    case 'the':
      return next === 'vowel' ? 'ði' : 'ðə'
    case 'to':
      return next === 'end' ? undefined : next === 'vowel' ? 'tʊ' : 'tə'
    case 'in':
      return next === 'end' ? 'ˈɪn' : 'ɪn'
    case 'i':
      return word === 'I' ? 'ˌI' : undefined
    case 'that':
      return before === '' ? 'ðˈæt' : undefined
    case 'am':
      return next !== 'end' && before === 'i' ? 'ɐm' : undefined
    default:
      return undefined
  }
}

/** Turns the primary stress into a secondary stress. */
function lessStressed(phonemes: string): string {
  return phonemes.includes('ˈ') ? phonemes.replaceAll('ˌ', '').replaceAll('ˈ', 'ˌ') : phonemes
}

function wordSet(words: string): ReadonlySet<string> {
  return new Set(words.split(' '))
}
