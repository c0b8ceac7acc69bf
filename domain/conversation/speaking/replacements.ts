/**
 * Replaces words of a text by others: whole words, in any case, the longest first, and each place once. The result is
 * not searched again. A place costs one look-up for each length of the keys that begin with its letter, so a hostile text
 * is linear work.
 */
import { TracedText } from '../../speech/traced-text.ts'
import { isUnspaced } from '../words/phrases.ts'

export class Replacements {
  readonly #values = new Map<string, string>()
  /** The lengths of the keys that begin with a letter, longest first. */
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

  /** The longest key at this place. */
  #at(low: string, at: number): string | undefined {
    for (const length of this.#lengths.get(low[at] as string) ?? []) {
      const key = low.slice(at, at + length)
      if (this.#values.has(key) && isWhole(low, at, key)) return key
    }
    return undefined
  }
}

/** Neither side of the place goes on with the word. A key that begins or ends with a sign, or a script without spaces, has no border there. */
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

/** Lower case of the same length, so that a place in it is the same place in the text. */
function folded(text: string): string {
  const low = text.toLowerCase()
  if (low.length === text.length) return low
  return Array.from(text, (character) => {
    const lowered = character.toLowerCase()
    return lowered.length === character.length ? lowered : character
  }).join('')
}
