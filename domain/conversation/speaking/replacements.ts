/**
 * Replaces whole words in a text, in any case. At each position the longest key wins, and the replacement is not
 * searched again. There is one look-up per key length for keys with the same first letter, so a hostile text costs only
 * linear work.
 */
import { TracedText } from '../../speech/reading/traced-text.ts'
import { isUnspaced } from '../words/phrases.ts'

export class Replacements {
  readonly #values = new Map<string, string>()
  /** For each first letter, the lengths of its keys, longest first. */
  readonly #lengths = new Map<string, number[]>()

  constructor(pairs: Readonly<Record<string, string>>) {
    for (const [key, value] of Object.entries(pairs)) {
      const low = folded(key.trim())
      if (low !== '') this.#values.set(low, value)
    }
    for (const key of this.#values.keys()) {
      const first = key[0] as string
      const lengths = this.#lengths.get(first) ?? []
      if (!lengths.includes(key.length))
        this.#lengths.set(
          first,
          [...lengths, key.length].sort((a, b) => b - a),
        )
    }
  }

  in(text: string): TracedText {
    const result = new TracedText(text)
    if (this.#values.size === 0) return result.copy()
    const low = folded(text)
    for (let at = 0; at < low.length; ) {
      const key = this.#at(low, at)
      if (key === undefined) {
        at++
        continue
      }
      result.copy(at).put(this.#values.get(key) as string, at + key.length)
      at += key.length
    }
    return result.copy()
  }

  /** Returns the longest key at this position. */
  #at(low: string, at: number): string | undefined {
    for (const length of this.#lengths.get(low[at] as string) ?? []) {
      const key = low.slice(at, at + length)
      if (this.#values.has(key) && isWhole(low, at, key)) return key
    }
    return undefined
  }
}

/**
 * Returns true if the key is a whole word at this position. If a key begins or ends with a symbol, or with a character
 * of a script without spaces, no word boundary is required on this side.
 */
function isWhole(text: string, at: number, key: string): boolean {
  return isBorder(before(text, at), key, true) && isBorder(characterAt(text, at + key.length), key, false)
}

function isBorder(neighbour: string, key: string, isStart: boolean): boolean {
  const edge = isStart ? characterAt(key, 0) : before(key, key.length)
  return !isOfWord(edge) || !isOfWord(neighbour) || isUnspaced(edge)
}

const isOfWord = (character: string) => /^[\p{L}\p{M}\p{N}_]$/u.test(character)

function characterAt(text: string, at: number): string {
  const code = text.codePointAt(at)
  return code === undefined ? '' : String.fromCodePoint(code)
}

function before(text: string, at: number): string {
  const last = text[at - 1] ?? ''
  return /[\udc00-\udfff]/.test(last) ? text.slice(at - 2, at) : last
}

/** Converts to lower case without changing the length, so that positions in both texts agree. */
function folded(text: string): string {
  const low = text.toLowerCase()
  if (low.length === text.length) return low
  return Array.from(text, (character) => {
    const lowered = character.toLowerCase()
    return lowered.length === character.length ? lowered : character
  }).join('')
}
