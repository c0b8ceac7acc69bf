/** Finds the differing words between two texts of the same speech. */

/** One alignment step. The two words are equal, replaced, left out (no `now`) or added (no `then`). */
type Step = { then: string | null; now: string | null }
export type WordDifferences = { words: number; errors: number; steps: Step[] }

/** Splits a text into words. Case, punctuation and the script's way to separate words do not count. */
export function wordsOf(text: string): string[] {
  const segments = new Intl.Segmenter(undefined, { granularity: 'word' }).segment(text.normalize('NFKC').toLowerCase())
  return [...segments].flatMap(({ segment, isWordLike }) => (isWordLike ? [segment.replace(/’/g, "'")] : []))
}

/**
 * Compares two texts with the fewest substitutions, insertions and deletions (Levenshtein 1966). `words` counts the
 * words in `then`.
 */
export function wordDifferences(then: string, now: string): WordDifferences {
  const [expected, actual] = [wordsOf(then), wordsOf(now)]
  const rows = distances(expected, actual)
  const steps: Step[] = []
  for (let [i, j] = [expected.length, actual.length]; i > 0 || j > 0; ) {
    const at = rows[i]?.[j] ?? 0
    const isPair = i > 0 && j > 0 && at === (rows[i - 1]?.[j - 1] ?? 0) + (expected[i - 1] === actual[j - 1] ? 0 : 1)
    const isGone = !isPair && i > 0 && at === (rows[i - 1]?.[j] ?? 0) + 1
    steps.push({
      then: isPair || isGone ? (expected[i - 1] ?? null) : null,
      now: isGone ? null : (actual[j - 1] ?? null),
    })
    i -= isPair || isGone ? 1 : 0
    j -= isGone ? 0 : 1
  }
  return { words: expected.length, errors: rows.at(-1)?.at(-1) ?? 0, steps: steps.toReversed() }
}

function distances(expected: readonly string[], actual: readonly string[]): Uint16Array[] {
  const rows = [Uint16Array.from({ length: actual.length + 1 }, (_, j) => j)]
  for (const [i, word] of expected.entries()) {
    const before = rows[i] ?? new Uint16Array()
    const row = new Uint16Array(actual.length + 1)
    row[0] = i + 1
    for (let j = 1; j <= actual.length; j++) {
      const paired = (before[j - 1] ?? 0) + (actual[j - 1] === word ? 0 : 1)
      row[j] = Math.min(paired, (before[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1)
    }
    rows.push(row)
  }
  return rows
}

/** Returns one text's words, with brackets around each word that differs from the other text. */
export function marked({ steps }: WordDifferences, side: 'then' | 'now'): string {
  const words = steps.flatMap((step) =>
    step[side] === null ? [] : [step.then === step.now ? step[side] : `[${step[side]}]`],
  )
  return words.join(' ')
}
