/** Converts a sentence to the voice's phonemes as ids, and keeps which word ends at which id. */
import { brotliDecompressSync } from 'node:zlib'
import { readWeights } from '../../weights/weights.ts'
import { Lexicon } from './lexicon.ts'
import { type Context, type NextSound, Pronunciation } from './pronunciation.ts'
import { type Token, tokensOf } from './tokens.ts'
import { UnknownWords } from './unknown-words.ts'

/**
 * A word or a punctuation mark. Its ids include the space before it. `place` is where a word ends in the sentence, or
 * null if no word ends with this part.
 */
export type Part = { ids: number[]; place: number | null; isPause: boolean }

const vowels = new Set('AIOQWYaiuæɑɐɒɔəɛɜɪʊʌᵻ')
const consonants = new Set('bdfhjklmnpstvwzðŋɡɹɾʃʒʤʧθT')

export class Phonemizer {
  readonly #ids: ReadonlyMap<string, number>
  readonly #pronunciation: Pronunciation

  private constructor(ids: ReadonlyMap<string, number>, pronunciation: Pronunciation) {
    this.#ids = ids
    this.#pronunciation = pronunciation
  }

  static async open(): Promise<Phonemizer> {
    const vocabulary = JSON.parse((await readWeights('hibariVocabulary')).toString()) as Record<string, number>
    const ids = new Map(Object.entries(vocabulary))
    const phonemes: string[] = []
    for (const [phoneme, id] of ids) phonemes[id] = phoneme
    const lexicon = new Lexicon(brotliDecompressSync(await readWeights('hibariLexicon')), phonemes)
    return new Phonemizer(ids, new Pronunciation(lexicon, await UnknownWords.open()))
  }

  /** Reads an English sentence in ASCII. */
  async read(sentence: string): Promise<Part[]> {
    const tokens = tokensOf(sentence, (word) => this.#pronunciation.knows(word))
    const parts: Part[] = []
    let next: NextSound = 'end'
    // A word's pronunciation depends on the next sound, so the sentence is read from its end.
    for (let at = tokens.length - 1; at >= 0; at--) {
      const { text, isPause, isAfterSpace, place } = tokens[at]!
      const phonemes: string = isPause ? text : await this.#pronunciation.of(text, { ...neighbours(tokens, at), next })
      next = isPause ? 'end' : (firstSound(phonemes) ?? next)
      parts.push({ ids: this.#idsOf(isAfterSpace ? ` ${phonemes}` : phonemes), place, isPause })
    }
    return parts.reverse()
  }

  #idsOf(phonemes: string): number[] {
    return [...phonemes].flatMap((phoneme) => this.#ids.get(voicePhonemes[phoneme] ?? phoneme) ?? [])
  }
}

/** For two sounds the voice uses other symbols than the lexicon. */
const voicePhonemes: Readonly<Record<string, string>> = { ɾ: 'T', ʔ: 't' }

function neighbours(tokens: readonly Token[], at: number): Omit<Context, 'next'> {
  const wordAt = (index: number) => {
    const token = tokens[index]
    return token === undefined || token.isPause ? '' : token.text.toLowerCase()
  }
  return { before: wordAt(at - 1), secondBefore: wordAt(at - 2), after: wordAt(at + 1) }
}

function firstSound(phonemes: string): NextSound | null {
  for (const phoneme of phonemes) {
    if (vowels.has(phoneme)) return 'vowel'
    if (consonants.has(phoneme)) return 'consonant'
  }
  return null
}
