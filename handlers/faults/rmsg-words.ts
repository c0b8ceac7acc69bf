/** The platform API's messages for rich-message faults. */
import type { ResourceFaultData } from '../../domain/records/resource-fault.ts'
import type { Said } from './said.ts'

const codes = {
  rmsg_not_enabled: 'NOT_ENABLED_FOR_ORGANIZATION',
  rmsg_number_not_found: 'PHONE_NUMBER_NOT_FOUND',
  endpoint_removed: 'ENDPOINT_REMOVED',
  rmsg_off: 'NOT_ENABLED_FOR_ORGANIZATION',
  rmsg_agent_unknown: 'NOT_FOUND',
  rmsg_off_for_agent: 'RMSG_NOT_ENABLED',
  dedicated_number_required: 'DEDICATED_NUMBER_REQUIRED',
  rmsg_backend_unsupported: 'UNSUPPORTED_BACKEND',
  message_not_sent: 'MESSAGE_SEND_FAILED',
  rmsg_number_unavailable: 'RMSG_NUMBER_UNAVAILABLE',
} as const
type RmsgFault = Extract<ResourceFaultData, { kind: keyof typeof codes }>

export function isOfRmsg(data: ResourceFaultData): data is RmsgFault {
  return Object.hasOwn(codes, data.kind)
}

export function sayRmsgFault(data: RmsgFault): Said {
  const code = codes[data.kind]
  if (data.kind === 'message_not_sent') return { code, ...sayUnsent(data) }
  if (data.kind === 'rmsg_off') return { code, isCodeless, hint: 'Ask the operator to enable them.' }
  if (data.kind !== 'rmsg_agent_unknown') return { code }
  return { code, isCodeless, message: 'There is no such agent.', hint: 'List the agents with GET /v1/agents.' }
}

const isCodeless = true

/** The contract's limit for `providerDetail`. */
const detailMax = 512
/** The provider's statuses that the client also gets, because the client can correct their cause. */
const passedOn = [400, 404, 409, 422, 429]

function sayUnsent({ status, detail }: Extract<RmsgFault, { kind: 'message_not_sent' }>): Omit<Said, 'code'> {
  return {
    ...(status !== null && passedOn.includes(status) && { status }),
    details: { providerStatus: status, providerDetail: detail && detail.slice(0, detailMax) },
  }
}
