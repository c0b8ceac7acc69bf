/** Replaces a list's shown rows by fresh rows, without moving the shown rows. */
export type Row = { id: string }

/**
 * Puts the fresh rows at the places of the shown rows. Other fresh rows are left out, unless they belong behind the
 * last shown row, where they move nothing.
 */
export function inPlace<Each extends Row>(
  shown: readonly Each[],
  fresh: readonly Each[],
  timeOf: (row: Each) => string,
): Each[] {
  const byId = new Map(fresh.map((row) => [row.id, row]))
  const refreshed = shown.map((row) => byId.get(row.id) ?? row)
  const ids = new Set(refreshed.map(({ id }) => id))
  const oldest = refreshed.map(timeOf).sort()[0] ?? ''
  return [...refreshed, ...fresh.filter((row) => !ids.has(row.id) && timeOf(row) <= oldest)]
}
