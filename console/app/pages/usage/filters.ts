/** Reads the time range and the groups from the page's URL. */
import { pick } from '../../data/search.ts'
import type { UsageQuery } from '../../data/usage.ts'

const names = ['from', 'to', 'groupBy'] as const

export type Filters = Partial<Record<(typeof names)[number], string>>

export const readFilters = (search: Readonly<Record<string, unknown>>): Filters => pick(search, names)

export const groups = [
  { value: 'model', label: 'Model' },
  { value: 'provider', label: 'Provider' },
  { value: 'stage', label: 'Stage' },
  { value: 'agent', label: 'Agent' },
  { value: 'key', label: 'API key' },
  { value: 'day', label: 'Day' },
] as const

export type Group = (typeof groups)[number]['value']

/** Unknown groups are sent unchanged, because the server then reports the mistake. */
export const groupOf = ({ groupBy }: Filters): Group => groups.find(({ value }) => value === groupBy)?.value ?? 'model'

/** A model's name says little without its provider and its stage (stt, llm or tts). */
const joined: Partial<Record<Group, string>> = { model: 'provider,model,stage' }

export function toQuery(filters: Filters): UsageQuery {
  const { from, to } = filters
  const group = groupOf(filters)
  return { groupBy: joined[group] ?? group, ...(from && { from }), ...(to && { to }) }
}

const monthFormat = new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' })
const monthsBack = 12
const dayMs = 86_400_000

export type Period = { value: string; label: string; from?: string; to?: string }

/**
 * Offers the last 30 days, the last 7 days, and whole months. All are in UTC, because the server's days are UTC days.
 */
export function periods(now: Date): Period[] {
  const months = Array.from({ length: monthsBack }, (_, back) => {
    const start = (ahead: number) => new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back + ahead, 1))
    const [from, to] = [start(0), start(1)]
    return {
      value: from.toISOString().slice(0, 7),
      label: monthFormat.format(from),
      from: from.toISOString(),
      to: to.toISOString(),
    }
  })
  const midnight = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate())
  const week = { value: 'week', label: 'Last 7 days', from: new Date(midnight - 6 * dayMs).toISOString() }
  return [{ value: '', label: 'Last 30 days' }, week, ...months]
}

export function periodOf({ from, to }: Filters, known: readonly Period[]): string {
  return known.find((period) => period.from === from && period.to === to)?.value ?? 'own'
}
