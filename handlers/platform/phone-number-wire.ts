import { setupStatusOf } from '../../domain/numbers/setup-status.ts'
import type { OfferedNumber } from '../../domain/ports/number-carrier.ts'
import type { PhoneNumber } from '../../domain/records/phone-number.ts'
import type { AvailablePhoneNumber, PhoneNumber as WireNumber } from '../../generated/platform/types.ts'
import { nationalForm } from '../../runtime/values/phone-number.ts'
import { timeOf, timeOrNull } from './times.ts'

/**
 * Writes a phone number in the contract's names. `hasTrunks`: this server can accept and place calls over SIP trunks.
 */
export function wirePhoneNumber(number: PhoneNumber, hasTrunks: boolean): WireNumber {
  return {
    id: number.id,
    ...(number.test && { test: true }),
    organizationId: number.organizationId,
    e164: number.e164,
    source: number.source,
    direction: number.direction,
    agentId: number.agentId,
    dispatchMetadataTemplate: number.dispatchMetadataTemplate,
    label: number.label,
    providerResourceId: number.order.resourceId,
    sipConnectionInstallationId: number.connectionId,
    sipProviderName: number.sipProviderName,
    smsCampaignId: number.smsAssignment?.campaignId ?? null,
    smsAssignmentStatus: number.smsAssignment?.status ?? null,
    smsAssignmentUpdatedAt: timeOrNull(number.smsAssignment?.updatedAtMs ?? null),
    setupStatus: setupStatusOf(number, hasTrunks),
    nextChargeAt: timeOrNull(number.nextChargeAtMs),
    monthlyMicroUsd: String(number.nextChargeAtMs === null ? 0 : (number.price?.monthlyMicroUsd ?? 0)),
    lastChargedAt: timeOrNull(number.lastChargedAtMs),
    suspendedAt: timeOrNull(number.suspendedAtMs),
    createdAt: timeOf(number.createdAtMs),
    updatedAt: timeOf(number.updatedAtMs),
  }
}

/** Writes an offered number. Its prices are numbers, but everywhere else in the contract amounts are strings. */
export function wireOffer(offer: OfferedNumber): AvailablePhoneNumber {
  const { e164, upfrontMicroUsd, monthlyMicroUsd, features, region } = offer
  return {
    e164,
    friendlyName: nationalForm(e164),
    monthlyCostUsd: monthlyMicroUsd && monthlyMicroUsd / 1e6,
    upfrontCostUsd: upfrontMicroUsd && upfrontMicroUsd / 1e6,
    features,
    region,
  }
}
