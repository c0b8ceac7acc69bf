export function timeOf(ms: number): string {
  return new Date(ms).toISOString()
}

export function timeOrNull(ms: number | null): string | null {
  return ms === null ? null : timeOf(ms)
}

/** `2026-11-21T16:00:00.000123Z` */
export function timeOfMicroseconds(us: number): string {
  const ms = Math.floor(us / 1000)
  return timeOf(ms).replace('Z', `${String(us - ms * 1000).padStart(3, '0')}Z`)
}

/** Reads a time of RFC 3339, whose form was checked. Parts of a microsecond are left out. */
export function microsecondsOf(time: string): number {
  const fraction = /\.(\d+)/.exec(time)?.[1] ?? ''
  const wholeMs = Date.parse(time.replace(/\.\d+/, ''))
  return wholeMs * 1000 + Number(fraction.slice(0, 6).padEnd(6, '0'))
}
