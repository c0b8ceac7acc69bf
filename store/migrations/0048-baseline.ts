import { access } from './baseline/access.ts'
import { agents } from './baseline/agents.ts'
import { billing } from './baseline/billing.ts'
import { calls } from './baseline/calls.ts'
import { messages } from './baseline/messages.ts'
import { phone } from './baseline/phone.ts'
import { requests } from './baseline/requests.ts'
import { sharing } from './baseline/sharing.ts'
import { webhooks } from './baseline/webhooks.ts'
import type { Migration } from './migration.ts'

/**
 * The first schema. Its version is 48, because builds before the first release changed the schema in 48 steps, and a
 * database that has taken all of them has exactly this schema. A table comes after the tables that it refers to.
 */
export const baseline: Migration = {
  version: 48,
  name: 'baseline',
  sql: [access, requests, sharing, billing, agents, calls, phone, webhooks, messages].join(''),
}
