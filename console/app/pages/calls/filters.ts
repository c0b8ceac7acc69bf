/** Reads the list's filters from the page's URL. */
import type { CallFilters } from '../../data/calls.ts'
import { pick } from '../../data/search.ts'

const names = [
  ...(['agent_id', 'status', 'kind', 'direction', 'outcome', 'end_reason', 'number', 'live'] as const),
  ...(['since', 'until', 'min_duration_seconds', 'max_duration_seconds', 'q', 'sort'] as const),
] as const

/** All values are text, because the server checks them. */
export type Filters = Partial<Record<(typeof names)[number], string>>

export const readFilters = (search: Readonly<Record<string, unknown>>): Filters => pick(search, names)

/** The server refuses values that are not in its contract, and the page shows this refusal. */
export const toQuery = (filters: Filters) => filters as unknown as CallFilters

export const countOf = (filters: Filters) => Object.keys(filters).length

export const statuses = [
  ...['queued', 'dialing', 'ringing', 'in_progress', 'transferring', 'completed'],
  ...['failed', 'busy', 'no_answer', 'cancelled', 'voicemail'],
]
export const kinds = ['browser', 'inbound', 'outbound', 'rmsg']
export const outcomes = [
  ...['resolved', 'unresolved', 'completed', 'transferred', 'callback_scheduled'],
  ...['voicemail', 'no_conversation', 'not_connected', 'failed'],
]

/** The first order is the default. A search always uses this order. */
export const orders = [
  { value: '', label: 'Newest' },
  { value: 'slowest_turn_ms', label: 'Slowest turn' },
  { value: 'duration_seconds', label: 'Longest' },
  { value: 'cost_micro_usd', label: 'Most expensive' },
]
