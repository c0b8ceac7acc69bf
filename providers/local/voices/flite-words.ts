/**
 * Finds when each word ends in Flite's speech. Flite prints the segments' end times (`-psdur`), but not the word for
 * each segment. So this code reads the utterance's data structures from the program's memory while the program writes
 * its file. The 32-bit layouts come from Flite's `cst_item.h`, `cst_relation.h`, `cst_features.h` and `cst_val.h`. They
 * cannot change, because `weights.ts` checks the program's checksum.
 *
 *   Token relation     ["We"]      ["$4.50"]
 *                        │            ├──────┬──────┐           a token is spoken as words,
 *   SylStructure       [we]        [four] [dollars] [fifty] …   a word has syllables, a syllable has segments,
 *                                                    └─ [f ih f] [t iy]   and a segment its end in seconds
 */
import type { WordEnd } from '../../../domain/ports/tts.ts'
import type { ProgramMemory } from './wasi.ts'

/** Field offsets, in words of 4 bytes. */
const relation = { name: 0, head: 3, words: 5 }
const item = { contents: 0, relation: 1, next: 2, down: 5 }
const contents = { features: 0, relations: 1 }
const feature = { name: 0, value: 1, next: 2 }
const stringType = 5
const floatType = 3
/** A list longer than this means damaged memory, because a sentence has fewer characters. */
const listMax = 10_000

/** Returns the words' ends. Empty if the memory contains no utterance, or if its words do not match this text. */
export function fliteWordEnds({ view, heapStart }: ProgramMemory, text: string): WordEnd[] {
  const memory = new Memory(view)
  const tokens = memory.relation('Token', heapStart)
  const ends: WordEnd[] = []
  let place = 0
  for (const token of tokens === null ? [] : memory.list(memory.at(tokens, relation.head))) {
    const name = memory.string(memory.features(token, contents.features).get('name') ?? 0)
    const from = text.indexOf(name, place)
    // Flite drops some punctuation between tokens, but never letters or digits. If the skipped text contains a letter
    // or digit, the tokens are from another text.
    if (from < 0 || /[a-z0-9]/i.test(text.slice(place, from))) return []
    place = from + name.length
    const endS = memory.endOf(token)
    if (endS !== null) ends.push({ place, endMs: endS * 1000 })
  }
  return ends
}

class Memory {
  readonly #view: DataView

  constructor(view: DataView) {
    this.#view = view
  }

  at(address: number, field: number): number {
    return this.#view.getUint32(address + 4 * field, true)
  }

  /**
   * Searches the memory for the relation with this name. A candidate is valid if its first item refers back to it.
   * Returns null if there is no such relation.
   */
  relation(name: string, heapStart: number): number | null {
    const isAddress = (value: number) => value >= heapStart && value % 4 === 0 && value < this.#view.byteLength - 64
    const end = this.#view.byteLength - 4 * relation.words
    for (let address = heapStart - (heapStart % 4); address < end; address += 4) {
      const [nameAt, head] = [this.at(address, relation.name), this.at(address, relation.head)]
      if (!isAddress(nameAt) || !isAddress(head) || this.at(head, item.relation) !== address) continue
      if (this.text(nameAt) === name) return address
    }
    return null
  }

  /** Yields all items in a relation's linked list, beginning with `first`. */
  *list(first: number): Generator<number> {
    let count = 0
    for (let address = first; address !== 0 && count++ < listMax; address = this.at(address, item.next)) yield address
  }

  /** Returns an item's features by name, or the same item in other relations by relation name. */
  features(address: number, of: number): Map<string, number> {
    const features = new Map<string, number>()
    const head = this.at(this.at(this.at(address, item.contents), of), 0)
    let count = 0
    for (let pair = head; pair !== 0 && count++ < listMax; pair = this.at(pair, feature.next))
      features.set(this.text(this.at(pair, feature.name)), this.at(pair, feature.value))
    return features
  }

  /** Returns when the token's last segment ends, in seconds, or null if the token has no sound. */
  endOf(token: number): number | null {
    let last = 0
    for (const word of this.list(this.at(token, item.down))) last = word
    const inSyllables = last === 0 ? undefined : this.features(last, contents.relations).get('SylStructure')
    if (inSyllables === undefined) return null
    let end: number | null = null
    for (const syllable of this.list(this.at(this.at(inSyllables, 1), item.down)))
      for (const segment of this.list(this.at(syllable, item.down)))
        end = this.float(this.features(segment, contents.features).get('end') ?? 0) ?? end
    return end
  }

  string(value: number): string {
    return value !== 0 && this.#typeOf(value) === stringType ? this.text(this.at(value, 1)) : ''
  }

  float(value: number): number | null {
    return value !== 0 && this.#typeOf(value) === floatType ? this.#view.getFloat32(value + 4, true) : null
  }

  text(address: number): string {
    let text = ''
    for (let at = address; at < this.#view.byteLength && text.length < listMax; at++) {
      const code = this.#view.getUint8(at)
      if (code === 0) break
      text += String.fromCharCode(code)
    }
    return text
  }

  #typeOf(value: number): number {
    return this.#view.getInt16(value, true)
  }
}
