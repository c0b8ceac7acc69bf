/** Milliseconds since the epoch. Null: no time, or one from 1970 and before or from 2100 on, which a column may not take. */
export function eventTimeMs(value: unknown): number | null {
  const timeMs = typeof value === 'string' && value.length <= charactersMax ? Date.parse(value) : Number.NaN
  return timeMs > 0 && timeMs < endMs ? timeMs : null
}

const charactersMax = 64
const endMs = Date.UTC(2100)
