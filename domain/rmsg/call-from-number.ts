/** Calls a phone from a rich-message number. The carrier for phone numbers places the call. */
import type { DialedCall, DialPhone, PhoneSessionRequest } from '../phone/outbound.ts'
import type { CallableNumber } from '../records/callable-number.ts'
import { issuesOfMetadata } from '../records/metadata.ts'
import { type Caller, type Tenant, tenantOf } from '../records/organization.ts'
import { refuseIssues } from '../records/resource-fault.ts'
import type { RmsgNumber, RmsgNumbers } from './numbers.ts'

type RmsgCallRequest = Pick<PhoneSessionRequest, 'to' | 'agentId' | 'variables' | 'metadata' | 'maxDurationSeconds'>

/** Calls the phone. `id` is the number's id. Throws Fault and ResourceFault. */
type CallFromNumber = (caller: Caller, id: string, request: RmsgCallRequest) => Promise<DialedCall>

export type CallFromNumberDeps = {
  numbers: Pick<RmsgNumbers, 'use'>
  dial: DialPhone
  /** Returns true if an E.164 text can be a phone's number. */
  isPhoneNumber: (text: string) => boolean
}

export function createCallFromNumber({ numbers, dial, isPhoneNumber }: CallFromNumberDeps): CallFromNumber {
  return async (caller, id, request) => {
    const tenant = tenantOf(caller)
    // Checks the body before the number is looked up, so an invalid body is answered 400 even if the number is unknown.
    refuseIssues([
      ...(isPhoneNumber(request.to) ? [] : [{ path: ['to'], problem: { kind: 'number_invalid' } } as const]),
      ...issuesOfMetadata(request.metadata ?? {}),
    ])
    const number = await numbers.use(tenant, id)
    const agentId = request.agentId ?? ownAgentOf(number, tenant)
    if (agentId === null) refuseIssues([{ path: ['agentId'], problem: { kind: 'agent_missing' } }])
    return dial(caller, { ...request, agentId, rmsgNumber: callable(number, tenant) })
  }
}

/**
 * Returns the number's agent if the number is in the organization's pool. The admin organization may use numbers from
 * other pools, but not the agents on such numbers.
 */
function ownAgentOf({ agentId, organizationId }: RmsgNumber, tenant: Tenant): string | null {
  return organizationId === tenant.organizationId ? agentId : null
}

function callable({ id, e164, agentId }: RmsgNumber, tenant: Tenant): CallableNumber {
  return {
    ...tenant,
    ...{ id, e164, agentId },
    source: 'managed',
    connectionId: null,
    direction: 'outbound',
    dispatchMetadataTemplate: null,
  }
}
