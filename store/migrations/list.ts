import { organizations } from './0001-organizations.ts'
import { requests } from './0002-requests.ts'
import { leases } from './0003-leases.ts'
import { usedTokens } from './0004-used-tokens.ts'
import { providerKeys } from './0005-provider-keys.ts'
import { attempts } from './0006-attempts.ts'
import { leanInserts } from './0007-lean-inserts.ts'
import { instances } from './0008-instances.ts'
import { agents } from './0009-agents.ts'
import { calls } from './0010-calls.ts'
import { callCommands } from './0011-call-commands.ts'
import { sessionLeases } from './0012-session-leases.ts'
import { callbacks } from './0013-callbacks.ts'
import { recordingUploads } from './0014-recording-uploads.ts'
import { webhookEndpoints } from './0015-webhook-endpoints.ts'
import { webhookDeliveries } from './0016-webhook-deliveries.ts'
import { reportReceivers } from './0017-report-receivers.ts'
import { webhookStreams } from './0018-webhook-streams.ts'
import { callLegs } from './0019-call-legs.ts'
import { phoneNumbers } from './0020-phone-numbers.ts'
import { keptAnswers } from './0021-kept-answers.ts'
import { numberOrders } from './0022-number-orders.ts'
import { numberCharges } from './0023-number-charges.ts'
import { transfers } from './0024-transfers.ts'
import { businessVerifications } from './0025-business-verifications.ts'
import { legCharges } from './0026-leg-charges.ts'
import { sipConnections } from './0027-sip-connections.ts'
import { rmsgNumbers } from './0028-rmsg-numbers.ts'
import { unknownAttempts } from './0029-unknown-attempts.ts'
import { creditMovements } from './0030-credit-movements.ts'
import { rmsgMessages } from './0031-rmsg-messages.ts'
import { users } from './0032-users.ts'
import { firstCalls } from './0033-first-calls.ts'
import { usage } from './0034-usage.ts'
import { rmsgSubscriptions } from './0035-rmsg-subscriptions.ts'
import { rmsgEvents } from './0036-rmsg-events.ts'
import { previousSecrets } from './0037-previous-secrets.ts'
import { smsRegistrations } from './0038-sms-registrations.ts'
import { disabledOrganizations } from './0039-disabled-organizations.ts'
import { legDialogs } from './0040-leg-dialogs.ts'
import { messageStates } from './0041-message-states.ts'
import { retention } from './0042-retention.ts'
import { keyBudgets } from './0043-key-budgets.ts'
import { messageMemory } from './0044-message-memory.ts'
import { trunkNumbers } from './0045-trunk-numbers.ts'
import { endedCalls } from './0046-ended-calls.ts'
import { trunkAddressing } from './0047-trunk-addressing.ts'
import { registrationRefusals } from './0048-registration-refusals.ts'
import type { Migration } from './migration.ts'

/**
 * The previous version's schema. The previous version can serve over later steps if they only add. At a release this is
 * raised to the newest step.
 */
export const servedSchema = 39

/** In order. A released migration is never edited: a change is a new file. */
export const migrations: readonly Migration[] = [
  organizations,
  requests,
  leases,
  usedTokens,
  providerKeys,
  attempts,
  leanInserts,
  instances,
  agents,
  calls,
  callCommands,
  sessionLeases,
  callbacks,
  recordingUploads,
  webhookEndpoints,
  webhookDeliveries,
  reportReceivers,
  webhookStreams,
  callLegs,
  phoneNumbers,
  keptAnswers,
  numberOrders,
  numberCharges,
  transfers,
  businessVerifications,
  legCharges,
  sipConnections,
  rmsgNumbers,
  unknownAttempts,
  creditMovements,
  rmsgMessages,
  users,
  firstCalls,
  usage,
  rmsgSubscriptions,
  rmsgEvents,
  previousSecrets,
  smsRegistrations,
  disabledOrganizations,
  legDialogs,
  messageStates,
  retention,
  keyBudgets,
  messageMemory,
  trunkNumbers,
  endedCalls,
  trunkAddressing,
  registrationRefusals,
]
