/** The audit log's filters, as they are in the page's URL. */
import type { AuditFilters } from '../../data/audit.ts'
import { pick } from '../../data/search.ts'

const names = ['actorId', 'actorType', 'action', 'targetType', 'targetId', 'result', 'from', 'to'] as const

/** The URL's values. All are text, because the server checks them. */
export type Filters = Partial<Record<(typeof names)[number], string>>

export const readFilters = (search: Readonly<Record<string, unknown>>): Filters => pick(search, names)

/** If a value is not in the server's contract, the server refuses the request, and the page shows the refusal. */
export const toQuery = (filters: Filters) => filters as AuditFilters

export const actorTypes = [
  { value: 'user', label: 'A person' },
  { value: 'api_key', label: 'An API key' },
  { value: 'operator', label: 'The operator' },
  { value: 'system', label: 'The server' },
]

/** Groups of actions. `access.denied` has requests for which a role was too low. */
export const families = [
  ...['access', 'agent', 'call', 'callback', 'delivery', 'invitation', 'key', 'kyb', 'member', 'organization'],
  ...['phone_number', 'provider_key', 'recording', 'sip_connection', 'sms_brand', 'sms_campaign', 'sms_number'],
  ...['tool', 'user', 'webhook', 'webhook_secret'],
]

const dayMs = 86_400_000

/** Absolute times, so that a link shows everybody the same events. */
export const spans = [
  { name: 'Last 24 hours', ms: dayMs },
  { name: 'Last 7 days', ms: 7 * dayMs },
  { name: 'Last 30 days', ms: 30 * dayMs },
]
