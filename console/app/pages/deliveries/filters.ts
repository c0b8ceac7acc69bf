/** Reads the list's filters from the page's URL. */

import type { RmsgEventType } from '../../../../generated/clients/typescript/models/platform.ts'
import type { DeliveryFilters } from '../../data/deliveries.ts'
import { pick } from '../../data/search.ts'
import { eventTypes } from '../../parts/endpoints.tsx'

const names = ['status', 'event', 'endpointId', 'agentId', 'sessionId', 'eventId', 'from', 'to'] as const

/** The values in the URL are texts, because the server checks them. */
export type Filters = Partial<Record<(typeof names)[number], string>>

export const readFilters = (search: Readonly<Record<string, unknown>>): Filters => pick(search, names)

/** The server refuses values that are not in its contract, and the page shows this refusal. */
export const toQuery = (filters: Filters) => filters as DeliveryFilters

export const statuses = ['pending', 'delivering', 'succeeded', 'failed', 'cancelled', 'expired']

/** A record, because the compiler then finds a missing type. */
const rmsgEvents: Record<RmsgEventType, true> = {
  'rmsg.sent': true,
  'rmsg.delivered': true,
  'rmsg.delivery_failed': true,
  'rmsg.received': true,
  'rmsg.reaction_received': true,
}

export const events = [...eventTypes.map(({ type }) => type), ...Object.keys(rmsgEvents)]

const hourMs = 3_600_000

/** Spans become absolute times, so a link shows everybody the same deliveries. */
export const spans = [
  { name: 'Last hour', ms: hourMs },
  { name: 'Last 24 hours', ms: 24 * hourMs },
  { name: 'Last 7 days', ms: 7 * 24 * hourMs },
]
