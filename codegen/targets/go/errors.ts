/** Emits the table of an API's error codes, grouped by their type and by whether they are retryable. */
import type { Surface } from '../../clients/model.ts'
import { goFile } from './format.ts'

const codesPerLine = 4

export function emitErrors(surface: Surface): string | null {
  if (surface.errors === null) return null
  const codesByRow = new Map<string, string[]>()
  for (const [code, { type, retryable }] of Object.entries(surface.errors)) {
    const row = `Type: ${JSON.stringify(type)}${retryable ? ', Retryable: true' : ''}`
    codesByRow.set(row, [...(codesByRow.get(row) ?? []), JSON.stringify(code)])
  }
  const cases = [...codesByRow].map(
    ([row, codes]) => `\tcase ${linesOf(codes)}:\n\t\treturn parley.ErrorRow{${row}}, true\n`,
  )
  const table = `// errorRows returns what the contract says about an error code.
func errorRows(code string) (parley.ErrorRow, bool) {
	switch code {
${cases.join('')}	}
	return parley.ErrorRow{}, false
}`
  return goFile('errors', surface, [table])
}

function linesOf(codes: readonly string[]): string {
  const lines = Array.from({ length: Math.ceil(codes.length / codesPerLine) }, (_, line) =>
    codes.slice(line * codesPerLine, (line + 1) * codesPerLine).join(', '),
  )
  return lines.join(',\n\t\t')
}
