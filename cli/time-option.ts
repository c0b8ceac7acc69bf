import { UsageError } from './command-error.ts'

/**
 * Reads a time, and writes it in UTC, because the contract requires a time zone. A date alone begins at midnight UTC.
 */
export function timeOf(option: string, text: string): string {
  const time = new Date(text)
  if (Number.isNaN(time.getTime()) || !isDay(text.slice(0, 10)))
    throw new UsageError(`${option}: ${text} is no time; write 2026-11-21T16:00:00Z`)
  return time.toISOString()
}

/** True if the date exists. JavaScript would read February 30 as March 2, and the text `1` as a year. */
function isDay(text: string): boolean {
  const midnight = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().slice(0, 10) === text
}
