/** Emits the table of an API's error codes, grouped by their type and by whether they are retryable. */
import type { Surface } from '../../clients/model.ts'
import { filled, rustFile } from './format.ts'

export function emitErrors(surface: Surface): string | null {
  if (surface.errors === null) return null
  const codesByRow = new Map<string, string[]>()
  for (const [code, { type, retryable }] of Object.entries(surface.errors)) {
    const row = `(${JSON.stringify(type)}, ${retryable})`
    codesByRow.set(row, [...(codesByRow.get(row) ?? []), JSON.stringify(code)])
  }
  const arms = [...codesByRow].map(([row, codes]) => patterns(codes, row))
  const table = `/// Returns what the contract says about an error code.
pub fn error_rows(code: &str) -> Option<ErrorRow> {
    let (kind, retryable) = match code {
${arms.join('')}        _ => return None,
    };
    Some(ErrorRow { kind, retryable })
}`
  return rustFile('errors', surface.file, '', [table])
}

/** Prints a `match` arm for several strings. */
export function patterns(texts: readonly string[], value: string): string {
  const lines = filled(texts, ' | ', 100)
  return `        ${lines.join('\n        | ')} => ${value},\n`
}
