import type { RoutingPreview } from '../generated/platform/types.ts'

/**
 * Writes a model choice as lines for people: the chosen model and its scores, and why each other model was left out.
 */
export function linesOfChoice({
  stage,
  language,
  objective,
  candidate,
  scores,
  excluded,
  ...rest
}: RoutingPreview): string[] {
  return [
    `${stage} for ${language ?? 'any language'}, by ${objective ?? 'a pinned model'}: ${candidate ?? 'no candidate'}`,
    '',
    ...table([['rank', 'model', 'score', ...parts], ...scores.map(rowOfScore)]),
    ...(excluded.length > 0 ? ['', 'excluded', ...table(excluded.map(rowOfExcluded))] : []),
    '',
    `catalog ${rest.catalog_digest}`,
  ]
}

const parts = ['quality', 'latency', 'cost'] as const

function rowOfScore({ id, score, parts: partScores }: RoutingPreview['scores'][number], index: number): string[] {
  return [String(index + 1), id, figure(score), ...parts.map((part) => figure(partScores[part] ?? null))]
}

function rowOfExcluded({ provider, model, reason, detail }: RoutingPreview['excluded'][number]): string[] {
  return [`${provider}:${model}`, detail === undefined ? reason : `${reason} (${detail})`]
}

/** Writes a figure. A dash marks an unknown figure. */
const figure = (value: number | null) => (value === null ? '–' : value.toFixed(2))

/** Pads each column to its widest cell. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)))
  return rows.map((row) => `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd())
}
