/** Compares two texts by the longest list of lines that both have. */
export type DiffLine = { kind: 'same' | 'added' | 'removed'; text: string }

/** Longer texts would take too long, so they are shown as removed and added as a whole. */
const linesMax = 1500

export function lineDiff(before: string, after: string): DiffLine[] {
  const [old, next] = [linesOf(before), linesOf(after)]
  if (old.length > linesMax || next.length > linesMax) return [...as('removed', old), ...as('added', next)]
  const common = commonLengths(old, next)
  const diff: DiffLine[] = []
  let [i, j] = [0, 0]
  while (i < old.length && j < next.length) {
    const [was, is] = [old[i] ?? '', next[j] ?? '']
    if (was === is) {
      diff.push({ kind: 'same', text: is })
      i++
      j++
    } else if (at(common, i + 1, j) >= at(common, i, j + 1)) {
      diff.push({ kind: 'removed', text: was })
      i++
    } else {
      diff.push({ kind: 'added', text: is })
      j++
    }
  }
  return [...diff, ...as('removed', old.slice(i)), ...as('added', next.slice(j))]
}

const linesOf = (text: string) => (text === '' ? [] : text.split('\n'))
const as = (kind: DiffLine['kind'], lines: readonly string[]) => lines.map((text) => ({ kind, text }))

type Lengths = { width: number; values: Uint16Array }

const at = ({ width, values }: Lengths, i: number, j: number) => values[i * width + j] ?? 0

/** Returns for each pair of places how many lines both rests have in common. */
function commonLengths(old: readonly string[], next: readonly string[]): Lengths {
  const width = next.length + 1
  const lengths = { width, values: new Uint16Array((old.length + 1) * width) }
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = next.length - 1; j >= 0; j--)
      lengths.values[i * width + j] =
        old[i] === next[j] ? at(lengths, i + 1, j + 1) + 1 : Math.max(at(lengths, i + 1, j), at(lengths, i, j + 1))
  return lengths
}
