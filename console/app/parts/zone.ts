/** Writes times for people in a time zone, and finds where the zone's days begin. Zones are IANA names. */

export type Times = {
  /** The times' zone. */
  zone: string
  /** Writes a day. The present year is left out. */
  day: (iso: string) => string
  timeOfDay: (iso: string) => string
  /** Writes the day and the time of day. */
  moment: (iso: string) => string
}

const made = new Map<string, Times>()

/** Returns the functions for a zone. If the browser does not know the zone, the times are in UTC. */
export function timesIn(zone: string): Times {
  const times = made.get(zone) ?? makeTimes(knownZone(zone))
  made.set(zone, times)
  return times
}

/** The server's list of zones may be newer than the browser's. */
function knownZone(zone: string): string {
  try {
    formatOf(zone, {})
    return zone
  } catch {
    return 'UTC'
  }
}

const formatOf = (timeZone: string, options: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat('en-GB', { ...options, timeZone })

function makeTimes(zone: string): Times {
  const year = formatOf(zone, { year: 'numeric' })
  const dayOfYear = formatOf(zone, { day: 'numeric', month: 'short' })
  const wholeDay = formatOf(zone, { day: 'numeric', month: 'short', year: 'numeric' })
  const time = formatOf(zone, { hour: '2-digit', minute: '2-digit', second: '2-digit' })
  const day = (iso: string) => {
    const date = new Date(iso)
    return (year.format(date) === year.format(new Date()) ? dayOfYear : wholeDay).format(date)
  }
  const timeOfDay = (iso: string) => time.format(new Date(iso))
  return { zone, day, timeOfDay, moment: (iso) => `${day(iso)}, ${timeOfDay(iso)}` }
}

/** Returns a date whose UTC fields are the zone's fields at `ms`. */
export function wallDate(zone: string, ms: number): Date {
  const format = wallFormats.get(zone) ?? formatOf(zone, wallFields)
  wallFormats.set(zone, format)
  const parts = format.formatToParts(ms)
  const of = (name: Intl.DateTimeFormatPartTypes) => Number(parts.find(({ type }) => type === name)?.value)
  return new Date(Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second')))
}

const wallFields: Intl.DateTimeFormatOptions = {
  year: 'numeric',
  month: 'numeric',
  day: 'numeric',
  hour: 'numeric',
  minute: 'numeric',
  second: 'numeric',
  hourCycle: 'h23',
}

/** The formats are kept, because making one takes much longer than using it. */
const wallFormats = new Map<string, Intl.DateTimeFormat>()

const dayMs = 86_400_000

/**
 * Returns the time at which a day begins in the zone. Month and day count as in `Date.UTC`, so month -1 is the last
 * month in the year before. If the clocks skip midnight, the day begins at the change.
 */
export function startOfDay(zone: string, year: number, month: number, day: number): Date {
  const wallMs = Date.UTC(year, month, day)
  // Midnight in the zone is within 14 hours of midnight in UTC, so these are the offsets before and after midnight.
  const starts = [wallMs - dayMs, wallMs + dayMs].map((ms) => wallMs - (wallDate(zone, ms).getTime() - ms))
  return new Date(starts.find((ms) => wallDate(zone, ms).getTime() === wallMs) ?? Math.max(...starts))
}
