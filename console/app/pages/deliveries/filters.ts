/** Reads the list's filters from the page's URL. */

import type { DeliveryFilters } from '../../data/deliveries.ts'
import { pick } from '../../data/search.ts'

const names = ['status', 'event', 'endpointId', 'agentId', 'sessionId', 'eventId', 'from', 'to'] as const

/** The values in the URL are texts, because the server checks them. */
export type Filters = Partial<Record<(typeof names)[number], string>>

export const readFilters = (search: Readonly<Record<string, unknown>>): Filters => pick(search, names)

/** The server refuses values that are not in its contract, and the page shows this refusal. */
export const toQuery = (filters: Filters) => filters as DeliveryFilters

export const statuses = ['pending', 'delivering', 'succeeded', 'failed', 'cancelled', 'expired']
export const events = [
  ...['call.pre_call', 'call.status', 'call.report', 'call.analysis', 'call.recording'],
  ...['rmsg.sent', 'rmsg.delivered', 'rmsg.delivery_failed', 'rmsg.received', 'rmsg.reaction_received'],
]

const hourMs = 3_600_000

/** Spans become absolute times, so a link shows everybody the same deliveries. */
export const spans = [
  { name: 'Last hour', ms: hourMs },
  { name: 'Last 24 hours', ms: 24 * hourMs },
  { name: 'Last 7 days', ms: 7 * 24 * hourMs },
]
