/** Calls a phone from a rich-message number. The carrier of phone numbers places the call. */
import type { DialedCall, DialPhone, WantedPhoneSession } from '../phone/outbound.ts'
import type { CallableNumber } from '../records/callable-number.ts'
import { issuesOfMetadata } from '../records/metadata.ts'
import { type Caller, type Tenant, tenantOf } from '../records/organization.ts'
import { refuseIssues } from '../records/resource-fault.ts'
import type { RmsgNumber, RmsgNumbers } from './numbers.ts'

type WantedRmsgCall = Pick<WantedPhoneSession, 'to' | 'agentId' | 'variables' | 'metadata' | 'maxDurationSeconds'>

/** `id` is that of the number. Throws Fault and ResourceFault. */
type CallFromNumber = (caller: Caller, id: string, wanted: WantedRmsgCall) => Promise<DialedCall>

export type CallFromNumberDeps = {
  numbers: Pick<RmsgNumbers, 'use'>
  dial: DialPhone
  /** Whether a text in E.164 can be the number of a phone. */
  isPhoneNumber: (text: string) => boolean
}

export function createCallFromNumber({ numbers, dial, isPhoneNumber }: CallFromNumberDeps): CallFromNumber {
  return async (caller, id, wanted) => {
    const tenant = tenantOf(caller)
    // All that can be wrong with the body itself comes before the number is looked up (400 before 404).
    refuseIssues([
      ...(isPhoneNumber(wanted.to) ? [] : [{ path: ['to'], problem: { kind: 'number_invalid' } } as const]),
      ...issuesOfMetadata(wanted.metadata ?? {}),
    ])
    const number = await numbers.use(tenant, id)
    const agentId = wanted.agentId ?? ownAgentOf(number, tenant)
    if (agentId === null) refuseIssues([{ path: ['agentId'], problem: { kind: 'agent_missing' } }])
    return dial(caller, { ...wanted, agentId, rmsgNumber: callable(number, tenant) })
  }
}

/** The admin organization uses numbers of other pools too, where agents of others answer. */
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
