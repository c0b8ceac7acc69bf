import { Refusal } from '../../runtime/engine/handler.ts'

export function timeOf(ms: number): string {
  return new Date(ms).toISOString()
}

export function timeOrNull(ms: number | null): string | null {
  return ms === null ? null : timeOf(ms)
}

/** Returns the time in the form `2026-11-21T16:00:00.000123Z`. */
export function timeOfMicroseconds(us: number): string {
  const ms = Math.floor(us / 1000)
  return timeOf(ms).replace('Z', `${String(us - ms * 1000).padStart(3, '0')}Z`)
}

/**
 * Reads the parameter `param`, an RFC 3339 time. The validator has checked its form. Fractions below a microsecond are
 * dropped. Throws Refusal for a leap second, because a Date cannot hold it, and for the year 0, because Postgres does
 * not have it.
 */
export function microsecondsOf(param: string, time: string): number {
  const fraction = /\.(\d+)/.exec(time)?.[1] ?? ''
  const wholeMs = Date.parse(time.replace(/\.\d+/, ''))
  if (!(wholeMs >= leastMs && wholeMs <= mostMs))
    throw new Refusal('invalid_parameter', {
      param,
      message: `${param} is no time of the years 1 to 9999`,
      keyword: 'format',
    })
  const microseconds = Number(fraction.slice(0, 6).padEnd(6, '0'))
  // A number cannot represent single microseconds so far from 1970. Rounding could move the last microsecond in the
  // year 9999 into the next year, so the result is limited.
  return Math.min(wholeMs * 1000 + microseconds, mostUs)
}

export function millisecondsOf(param: string, time: string): number {
  return Math.floor(microsecondsOf(param, time) / 1000)
}

/** The earliest time allowed, because Postgres has no year 0. */
export const leastMs = Date.parse('0001-01-01T00:00:00Z')
const mostMs = Date.parse('9999-12-31T23:59:59Z')
/** The last millisecond in the second `mostMs`, in microseconds. */
const mostUs = (mostMs + 999) * 1000
