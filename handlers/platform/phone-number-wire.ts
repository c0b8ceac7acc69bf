import type { PhoneNumber } from '../../domain/numbers/phone-number.ts'
import { setupStatusOf } from '../../domain/numbers/setup-status.ts'
import type { PhoneNumber as WireNumber } from '../../generated/platform/types.ts'
import { timeOf, timeOrNull } from './times.ts'

/** A phone number in the names of the contract. */
export function wirePhoneNumber(number: PhoneNumber): WireNumber {
  return {
    id: number.id,
    ...(number.test && { test: true as const }),
    organizationId: number.organizationId,
    e164: number.e164,
    source: number.source,
    direction: number.direction,
    agentId: number.agentId,
    dispatchMetadataTemplate: number.dispatchMetadataTemplate,
    label: number.label,
    providerResourceId: null,
    ...withoutTrunk,
    ...withoutMessages,
    setupStatus: { ...setupStatusOf(number), forwardingRequired: false, sipConnectionReady: true, issues: [] },
    nextChargeAt: null,
    lastChargedAt: null,
    suspendedAt: timeOrNull(number.suspendedAtMs),
    createdAt: timeOf(number.createdAtMs),
    updatedAt: timeOf(number.updatedAtMs),
  }
}

/** Numbers of the carrier go over no SIP connection. */
const withoutTrunk = { sipConnectionInstallationId: null, sipProviderName: null }
/** No number sends messages yet. */
const withoutMessages = { smsCampaignId: null, smsAssignmentStatus: null, smsAssignmentUpdatedAt: null }
