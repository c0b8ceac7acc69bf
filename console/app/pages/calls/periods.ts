import { startOfDay, wallDate } from '../../parts/zone.ts'

/** Returns absolute times, so that a link shows everybody the same calls. Days begin at midnight in the zone. */
export function periods(now: Date, zone: string): { name: string; since?: string; until?: string }[] {
  const today = wallDate(zone, now.getTime())
  const midnight = (daysAgo: number) =>
    startOfDay(zone, today.getUTCFullYear(), today.getUTCMonth(), today.getUTCDate() - daysAgo).toISOString()
  return [
    { name: 'Any time' },
    { name: 'Today', since: midnight(0) },
    { name: 'Yesterday', since: midnight(1), until: midnight(0) },
    { name: 'Last 7 days', since: midnight(6) },
    { name: 'Last 30 days', since: midnight(29) },
  ]
}
