/**
 * Makes captions that only grow from a segment's changing transcripts. A word is sent when two successive interims
 * agree up to this word and more words follow. The last word in an interim waits, because it is often cut off in the
 * middle. The final sends the rest.
 *
 *   interims   "weasels have"   "weasels have eaten"   "Weasels have eaten our"   "Weasels have eaten our phone"
 *   sent       -                "weasels"              - (the first word differs) " have eaten"
 *   final      "Weasels have eaten our phone system."                            " our phone system."
 *
 * Sent words cannot be taken back. If a later transcript has other words in their place, it is aligned with the sent
 * words, and only the words after them are sent. So the text is always the sum of the deltas; docs/decisions/0012 has
 * the measurements.
 */
export class AgreedWords {
  #sent: Word[] = []
  #interim: Word[] = []
  #text = ''

  /** Returns the text sent so far: all deltas joined. */
  get text(): string {
    return this.#text
  }

  /** Processes an interim transcript. Returns the words that have become certain, or ''. */
  interim(text: string): string {
    const words = wordsOf(text)
    const before = following(this.#sent, this.#interim)
    const now = following(this.#sent, words)
    this.#interim = words
    return this.#send(now.slice(0, Math.min(agreement(before, now), now.length - 1)))
  }

  /** Processes a segment's final text. Returns the words not sent yet. The next transcript begins a new segment. */
  final(text: string): string {
    const delta = this.#send(following(this.#sent, wordsOf(text)))
    this.#sent = []
    this.#interim = []
    return delta
  }

  #send(words: readonly Word[]): string {
    let delta = ''
    for (const { space, text } of words) {
      const isFirst = delta === '' && this.#sent.length === 0
      delta += isFirst && this.#text !== '' ? ` ${text}` : space + text
    }
    this.#sent.push(...words)
    this.#text += delta
    return delta
  }
}

/** A word in a transcript. `space` is the white space before it; `plain` is the word without case and punctuation. */
type Word = { space: string; text: string; plain: string }

/** In scripts without spaces each character counts as a word. */
const spaceless = '\\p{sc=Han}\\p{sc=Hira}\\p{sc=Kana}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmr}\\p{sc=Mymr}'
const wordPattern = new RegExp(`(\\s*)([${spaceless}]\\p{M}*|[^\\s${spaceless}]+)`, 'gu')

function wordsOf(text: string): Word[] {
  return [...text.trim().matchAll(wordPattern)].map(([, space = '', word = '']) => {
    return { space, text: word, plain: word.toLowerCase().replace(/[^\p{L}\p{M}\p{N}]/gu, '') }
  })
}

/** Counts the words that both lists share at their start. */
function agreement(before: readonly Word[], now: readonly Word[]): number {
  const end = now.findIndex(({ text }, i) => text !== before[i]?.text)
  return end < 0 ? now.length : end
}

/** Returns the transcript's words after the sent words. */
function following(sent: readonly Word[], words: readonly Word[]): readonly Word[] {
  return words.slice(sent.length === 0 ? 0 : endOf(sent, words))
}

/** If two texts have more pairs of words than this, they are not aligned, because this would delay other streams. */
const alignedPairsMax = 100_000

/** Finds the prefix of `words` with the fewest word edits from `sent` (Levenshtein), and returns its length. */
function endOf(sent: readonly Word[], words: readonly Word[]): number {
  const usual = Math.min(sent.length, words.length)
  if (sent.every(({ plain }, i) => plain === words[i]?.plain)) return usual
  if (sent.length * words.length > alignedPairsMax) return usual
  let edits = Array.from({ length: words.length + 1 }, (_, end) => end)
  sent.forEach(({ plain }, row) => {
    const next = [row + 1]
    words.forEach((word, column) => {
      const replaced = (edits[column] ?? 0) + (word.plain === plain ? 0 : 1)
      next.push(Math.min(replaced, (edits[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1))
    })
    edits = next
  })
  const fewest = Math.min(...edits)
  return edits.reduce((best, count, end) => (count === fewest && nearer(end, best, usual, edits) ? end : best), 0)
}

function nearer(end: number, best: number, usual: number, edits: readonly number[]): boolean {
  return (edits[best] ?? 0) > (edits[end] ?? 0) || Math.abs(end - usual) < Math.abs(best - usual)
}
