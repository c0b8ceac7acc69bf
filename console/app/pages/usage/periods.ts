import { startOfDay, wallDate } from '../../parts/zone.ts'

const monthFormat = new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' })
const monthsBack = 12

export type Period = { value: string; label: string; from?: string; to?: string }

/** Offers the last 30 days, the last 7 days, and whole months. Days and months begin at midnight in the zone. */
export function periods(now: Date, zone: string): Period[] {
  const today = wallDate(zone, now.getTime())
  const [year, month, date] = [today.getUTCFullYear(), today.getUTCMonth(), today.getUTCDate()]
  const months = Array.from({ length: monthsBack }, (_, back) => {
    const first = new Date(Date.UTC(year, month - back))
    return {
      value: first.toISOString().slice(0, 7),
      label: monthFormat.format(first),
      from: startOfDay(zone, year, month - back, 1).toISOString(),
      to: startOfDay(zone, year, month - back + 1, 1).toISOString(),
    }
  })
  const week = { value: 'week', label: 'Last 7 days', from: startOfDay(zone, year, month, date - 6).toISOString() }
  return [{ value: '', label: 'Last 30 days' }, week, ...months]
}
