/** Compares sentences by their words, for the scripted model's rules. */
import type { ScriptLanguage } from './languages/script-language.ts'

export function plainWords(text: string): string[] {
  return (
    text
      .toLowerCase()
      .replaceAll(/['’]/g, '')
      .match(/[\p{L}\p{N}]+/gu) ?? []
  )
}

/** A language's words, prepared for comparisons. */
export class Vocabulary {
  readonly language: ScriptLanguage
  readonly #empty: ReadonlySet<string>
  /** The first word in each group of equal words. */
  readonly #alike: ReadonlyMap<string, string>

  constructor(language: ScriptLanguage) {
    this.language = language
    this.#empty = new Set(language.empty.split(' '))
    this.#alike = new Map(
      language.alike.flatMap((group) => {
        const words = plainWords(group)
        return words.map((word) => [word, words[0] as string] as const)
      }),
    )
  }

  /** Returns the stems for the words about the sentence's subject, each stem once. */
  subjects(text: string): Set<string> {
    const words = plainWords(text).filter((word) => !this.#empty.has(word) || this.#alike.has(word))
    return new Set(words.map((word) => this.stemOf(word)))
  }

  stemOf(word: string): string {
    const synonym = this.#alike.get(word)
    if (synonym) return synonym
    const stem = this.#withoutEnding(word)
    return this.#alike.get(stem) ?? stem.replace(/[ey]$/, '')
  }

  /**
   * Returns the word without its ending, so "hours" equals "hour". Unlike `stemOf`, does not treat "open" and "closed"
   * as equal.
   */
  plainStemOf(word: string): string {
    return this.#withoutEnding(word).replace(/[ey]$/, '')
  }

  #withoutEnding(word: string): string {
    const { endings, shortEnding } = this.language
    if (word.length > 4) return endings.reduce((stem, ending) => stem.replace(ending, ''), word)
    return shortEnding === undefined ? word : word.replace(shortEnding, '')
  }
}

/** Counts the words in both sets. */
export function common(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let count = 0
  for (const word of a) if (b.has(word)) count++
  return count
}
