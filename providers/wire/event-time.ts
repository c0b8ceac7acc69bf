/**
 * Returns an event's time in milliseconds since the epoch. Returns null if the value is not a time, or a time before
 * 1970 or after 2099, because the database might not accept it.
 */
export function eventTimeMs(value: unknown): number | null {
  const timeMs = typeof value === 'string' && value.length <= charactersMax ? Date.parse(value) : Number.NaN
  return timeMs > 0 && timeMs < endMs ? timeMs : null
}

const charactersMax = 64
const endMs = Date.UTC(2100)
