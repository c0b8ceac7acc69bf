import { baseline } from './0048-baseline.ts'
import { importApprovals } from './0049-import-approvals.ts'
import { owners } from './0050-owners.ts'
import { eventOrder } from './0051-event-order.ts'
import { orderedEvents } from './0052-ordered-events.ts'
import { signIn } from './0053-sign-in.ts'
import { people } from './0054-people.ts'
import { callPages } from './0055-call-pages.ts'
import { agentVersions } from './0056-agent-versions.ts'
import { callsOfVersions } from './0057-calls-of-versions.ts'
import { providerHealth } from './0058-provider-health.ts'
import { receivedMessages } from './0059-received-messages.ts'
import { newestMessages } from './0060-newest-messages.ts'
import { failedDeliveries } from './0061-failed-deliveries.ts'
import { organizationChoices } from './0062-organization-choices.ts'
import { textsByAge } from './0063-texts-by-age.ts'
import type { Migration } from './migration.ts'

/**
 * The previous version's schema. The previous version can still serve after later steps if these steps only add to the
 * schema. At each release this number is raised to the newest step. Before the first release it is the baseline's
 * number.
 */
export const servedSchema = 48

/** The steps in the order of their versions. A released step is never edited: a change is a new file. */
export const migrations: readonly Migration[] = [
  baseline,
  importApprovals,
  owners,
  eventOrder,
  orderedEvents,
  signIn,
  people,
  callPages,
  agentVersions,
  callsOfVersions,
  providerHealth,
  receivedMessages,
  newestMessages,
  failedDeliveries,
  organizationChoices,
  textsByAge,
]
