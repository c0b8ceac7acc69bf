/** Prints lists of code: on one line if they fit, else in filled lines. */

/** The width of generated code. */
export const widthMax = 120
/** Documentation can be wider than code, as in the other languages. */
export const proseMax = 160

/** Joins items in lines up to the width. */
export function filled(items: readonly string[], separator: string, width: number): string[] {
  const lines: string[] = []
  for (const item of items) {
    const line = lines.at(-1)
    const joined = line === undefined ? item : line + separator + item
    if (line !== undefined && joined.length <= width) lines[lines.length - 1] = joined
    else lines.push(item)
  }
  return lines
}

/** Prints items between brackets: on one line if they fit, else in filled lines. */
export function brackets(before: string, items: readonly string[], after: string, indent: string): string {
  const oneLine = `${indent}${before}${items.join(', ')}${after}\n`
  if (oneLine.length - 1 <= widthMax) return oneLine
  const inner = `${indent}    `
  const lines = filled(
    items.map((item, place) => (place < items.length - 1 ? `${item},` : item)),
    ' ',
    widthMax - inner.length,
  )
  const last = inner.length + (lines.at(-1) ?? '').length + after.length
  const end = last > widthMax ? `\n${indent}${after.trimStart()}` : after
  return `${indent}${before.trimEnd()}\n${lines.map((line) => inner + line).join('\n')}${end}\n`
}

/** Prints items after `before`, in filled lines from its first line on. `body` follows on the last line if it fits. */
export function hanging(before: string, items: readonly string[], after: string, body = ''): string {
  const last = items.length - 1
  const pieces = items.map((item, place) => `${place === 0 ? before : ''}${item}${place < last ? ',' : after}`)
  const all = pieces.length === 0 ? [before + after] : pieces
  return `${filled([...all, ...(body === '' ? [] : [body])], ' ', widthMax - 4).join('\n    ')}\n`
}
