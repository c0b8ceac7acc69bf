/** Finds the different words in two transcripts for the same speech. */
type DiffPart = { kind: 'same' | 'added' | 'removed'; text: string }
/** `errors` counts replaced, missing and added words. */
type WordDiff = { parts: DiffPart[]; errors: number; count: number }

/** `text` is a word with its punctuation. `key` is the word's form for comparisons. */
type Token = { text: string; key: string }

/** Longer texts would take too long, so only their first words are compared. */
const wordsMax = 2000

/**
 * Compares two texts with the fewest substitutions, insertions and deletions of words (Levenshtein 1966), as `parley
 * replay` does. Case and punctuation do not count. `count` counts the words in `before`.
 */
export function wordDiff(before: string, after: string): WordDiff {
  const [old, next] = [tokensOf(before), tokensOf(after)]
  const rows = distances(old, next)
  const words: DiffPart[] = []
  for (let [i, j] = [old.length, next.length]; i > 0 || j > 0; ) {
    const [was, is] = [old[i - 1], next[j - 1]]
    const isSame = was !== undefined && was.key === is?.key
    const at = rows[i]?.[j]
    // If several ways are equally short, the way with more equal words reads best.
    const isAdded = !isSame && is !== undefined && at === (rows[i]?.[j - 1] ?? 0) + 1
    const isGone = !isSame && !isAdded && was !== undefined && at === (rows[i - 1]?.[j] ?? 0) + 1
    if (is !== undefined && !isGone) words.push({ kind: isSame ? 'same' : 'added', text: is.text })
    if (was !== undefined && !isSame && !isAdded) words.push({ kind: 'removed', text: was.text })
    if (!isAdded) i--
    if (!isGone) j--
  }
  return { parts: joined(words.reverse()), errors: rows.at(-1)?.at(-1) ?? 0, count: old.length }
}

/** Joins words to phrases. Between two equal phrases, all removed words come before the added words. */
function joined(words: readonly DiffPart[]): DiffPart[] {
  const parts: DiffPart[] = []
  let change: DiffPart[] = []
  const add = (kind: DiffPart['kind'], of: readonly DiffPart[]) => {
    const text = of.filter((word) => word.kind === kind).map((word) => word.text)
    if (text.length > 0) parts.push({ kind, text: text.join('').trim() })
  }
  for (const [at, word] of words.entries()) {
    change.push(word)
    const next = words[at + 1]
    if (next !== undefined && (next.kind === 'same') === (word.kind === 'same')) continue
    for (const kind of ['same', 'removed', 'added'] as const) add(kind, change)
    change = []
  }
  return parts
}

function tokensOf(text: string): Token[] {
  const tokens: Token[] = []
  let lead = ''
  for (const { segment, isWordLike } of new Intl.Segmenter(undefined, { granularity: 'word' }).segment(text)) {
    const last = tokens.at(-1)
    const key = segment.normalize('NFKC').toLowerCase().replaceAll('’', "'")
    if (isWordLike) {
      if (tokens.push({ text: lead + segment, key }) === wordsMax) break
      lead = ''
    } else if (last === undefined) lead += segment
    else last.text += segment
  }
  return tokens
}

function distances(old: readonly Token[], next: readonly Token[]): Uint16Array[] {
  const rows = [Uint16Array.from({ length: next.length + 1 }, (_, j) => j)]
  for (const [i, { key }] of old.entries()) {
    const above = rows[i] ?? new Uint16Array()
    const row = new Uint16Array(next.length + 1)
    row[0] = i + 1
    for (let j = 1; j <= next.length; j++) {
      const paired = (above[j - 1] ?? 0) + (key === next[j - 1]?.key ? 0 : 1)
      row[j] = Math.min(paired, (above[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1)
    }
    rows.push(row)
  }
  return rows
}
