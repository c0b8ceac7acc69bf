/** Imports a phone number on an organization's SIP connection. Importing costs nothing. */
import type { Clock } from '../ports/system.ts'
import type { Tenant } from '../records/organization.ts'
import { type NumberChange, numbersMax, type PhoneNumber, type PhoneNumberStore } from '../records/phone-number.ts'
import { ResourceFault, refuseIssues } from '../records/resource-fault.ts'
import type { SessionRules } from '../sessions/check.ts'
import { issuesOfChange, issuesOfWhole } from './check-number.ts'
import { hasAnswer } from './setup-status.ts'

export type ImportedNumber = NumberChange & {
  e164: string
  sipConnectionInstallationId: string
  sipProviderName?: string | null
}

export type ImportDeps = {
  store: PhoneNumberStore
  rules: SessionRules
  clock: Clock
  numberId: () => string
  isPhoneNumber: (e164: string) => boolean
  /** Resolves with true if the operator must approve imports made with live API keys (not test keys). */
  importsNeedApproval: () => Promise<boolean>
}

export type ImportNumber = (tenant: Tenant, input: ImportedNumber) => Promise<PhoneNumber>

/** If an import is refused, the returned function throws ResourceFault. */
export function createImport(deps: ImportDeps): ImportNumber {
  const { store, rules, clock, numberId, isPhoneNumber } = deps
  return async (tenant, input) => {
    const { e164, agentId = null, label = null, dispatchMetadataTemplate = null, sipProviderName = null } = input
    const nowMs = clock.nowMs()
    const number: PhoneNumber = {
      ...tenant,
      id: numberId(),
      e164,
      source: 'sip_trunk',
      connectionId: input.sipConnectionInstallationId,
      sipProviderName,
      connection: null,
      direction: input.direction ?? (hasAnswer({ agentId, dispatchMetadataTemplate }) ? 'both' : 'outbound'),
      ...{ agentId, label, dispatchMetadataTemplate },
      order: { status: 'done', id: null, resourceId: null },
      awaitsApproval: !tenant.test && (await deps.importsNeedApproval()),
      isAlsoImported: false,
      ...{ price: null, nextChargeAtMs: null, lastChargedAtMs: null, overdueSinceMs: null, suspendedAtMs: null },
      ...{ takesSms: false, smsAssignment: null, smsReviewErrors: [], firstCalledAtMs: null },
      ...{ createdAtMs: nowMs, updatedAtMs: nowMs },
    }
    refuseIssues([
      ...(isPhoneNumber(e164) ? [] : [{ path: ['e164'], problem: { kind: 'number_invalid' as const } }]),
      ...(await issuesOfChange(input, rules, tenant.organizationId)),
      ...issuesOfWhole(number),
    ])
    const outcome = await store.import(number, numbersMax)
    return typeof outcome === 'string' ? refuseNumber(outcome) : outcome
  }
}

export function refuseNumber(refusal: 'agent_unknown' | 'connection_unknown' | 'limit_reached' | 'exists'): never {
  switch (refusal) {
    case 'agent_unknown':
      throw new ResourceFault({ kind: 'named_not_found', path: ['agentId'] })
    case 'connection_unknown':
      throw new ResourceFault({ kind: 'named_not_found', path: ['sipConnectionInstallationId'] })
    case 'limit_reached':
      throw new ResourceFault({ kind: 'limit_reached', resource: 'phone number', limit: numbersMax })
    case 'exists':
      throw new ResourceFault({ kind: 'number_exists' })
  }
}
