/** A text whose last tokens are repeated at least this often is a loop, however short the repeated part is. */
const loopTokensMin = 12

/**
 * Returns how many tokens at the end repeat the tokens before them, or 0. A part counts as repeated if it occurs at
 * least `times` times in a row, and if all occurrences together have at least `loopTokensMin` tokens.
 *
 *   times = 2   Please hold the line, please hold the line,   the second half is repeated
 *   times = 2   no, no, no,                                   too short for a loop
 */
export function repeatedTokens(tokens: readonly number[], times: number): number {
  for (let part = 1; part * times <= tokens.length; part++) {
    const occurrences = Math.max(times, Math.ceil(loopTokensMin / part))
    if (part * occurrences <= tokens.length && isRepeated(tokens, part, occurrences)) return part * (occurrences - 1)
  }
  return 0
}

function isRepeated(tokens: readonly number[], part: number, occurrences: number): boolean {
  for (let back = 1; back <= part * (occurrences - 1); back++)
    if (tokens.at(-back) !== tokens.at(-back - part)) return false
  return true
}
