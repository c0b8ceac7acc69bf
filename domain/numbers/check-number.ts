import type { NumberChange, OwnedNumberChange, PhoneNumber } from '../records/phone-number.ts'
import { type Issue } from '../records/resource-fault.ts'
import type { SessionRules } from '../sessions/check.ts'
import { issuesOfTemplate } from './check-template.ts'
import { hasAnswer } from './setup-status.ts'

export async function issuesOfChange(
  { dispatchMetadataTemplate }: NumberChange,
  rules: SessionRules,
  organizationId: string,
): Promise<Issue[]> {
  if (dispatchMetadataTemplate === undefined || dispatchMetadataTemplate === null) return []
  return issuesOfTemplate(['dispatchMetadataTemplate'], dispatchMetadataTemplate, rules, organizationId)
}

/** Refuses fields about SIP for a carrier's number: only an imported number has a SIP connection and a SIP provider. */
export function issuesOfTrunk(
  { source }: Pick<PhoneNumber, 'source'>,
  { sipConnectionInstallationId: connection, sipProviderName = null }: OwnedNumberChange,
): Issue[] {
  if (source === 'sip_trunk') return []
  const problem = { kind: 'number_not_imported' as const }
  return [
    ...(connection === undefined ? [] : [{ path: ['sipConnectionInstallationId'], problem }]),
    ...(sipProviderName === null ? [] : [{ path: ['sipProviderName'], problem }]),
  ]
}

/**
 * Refuses a number for inbound calls if nothing can answer the calls: the number needs an agent, or a template with
 * enough settings.
 */
export function issuesOfWhole(number: PhoneNumber): Issue[] {
  if (number.direction === 'outbound' || hasAnswer(number)) return []
  return [{ path: ['dispatchMetadataTemplate'], problem: { kind: 'answer_missing' } }]
}
