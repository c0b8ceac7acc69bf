/** Finds similar names for a misspelt name, for the error message. */

const namesMax = 3
/** At most this fraction of a name's letters may be wrong. */
const wrongShare = 0.25

/**
 * Returns the names with the most similar spelling, nearest first. A longer name that begins with `name` is similar
 * too.
 */
export function nearNames(name: string, names: Iterable<string>): string[] {
  const target = name.toLowerCase()
  const editsMax = Math.max(1, Math.floor(target.length * wrongShare))
  const matches: { name: string; edits: number }[] = []
  for (const each of new Set(names)) {
    const other = each.toLowerCase()
    // The lengths are compared first, because API clients may send very long names.
    const isNear = Math.abs(other.length - target.length) <= editsMax
    const edits = isNear ? editsBetween(target, other) : editsMax + 1
    if (edits <= editsMax) matches.push({ name: each, edits })
    else if (target.length > 2 && other.startsWith(target)) matches.push({ name: each, edits: editsMax + 1 })
  }
  return matches
    .sort((a, b) => a.edits - b.edits)
    .slice(0, namesMax)
    .map((each) => each.name)
}

/** Returns the Levenshtein distance: the number of letters to insert, to drop or to replace. */
function editsBetween(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[j] as number) + 1, (next[j - 1] as number) + 1))
    }
    row = next
  }
  return row[b.length] as number
}
