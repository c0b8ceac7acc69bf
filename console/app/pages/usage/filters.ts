/** Reads the time range and the groups from the page's URL. */
import { pick } from '../../data/search.ts'
import type { UsageQuery } from '../../data/usage.ts'
import type { Period } from './periods.ts'

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

/** If the URL has no group, or a group that the page does not offer, usage is grouped by model. */
export const groupOf = ({ groupBy }: Filters): Group => groups.find(({ value }) => value === groupBy)?.value ?? 'model'

/** A model's name says little without its provider and its stage (stt, llm or tts). */
const joined: Partial<Record<Group, string>> = { model: 'provider,model,stage' }

/** Requests the days of the zone that the page names. */
export function toQuery(filters: Filters, timeZone: string): UsageQuery {
  const { from, to } = filters
  const group = groupOf(filters)
  return { groupBy: joined[group] ?? group, timeZone, ...(from && { from }), ...(to && { to }) }
}

export function periodOf({ from, to }: Filters, known: readonly Period[]): string {
  return known.find((period) => period.from === from && period.to === to)?.value ?? 'own'
}
