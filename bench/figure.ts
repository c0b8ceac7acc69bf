/** `bar` is the largest value that passes. Null if the figure has no bar and is only for the reader. */
export type Figure = { name: string; value: number; unit: string; bar: number | null; detail: string }
export type Result = Figure | { name: string; skipped: string }

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
