/** The words of the platform surface for what is wrong with rich messages. */
import type { ResourceFaultData } from '../../domain/resource-fault.ts'
import type { Said } from './said.ts'

const codes = {
  rmsg_not_enabled: 'NOT_ENABLED_FOR_ORGANIZATION',
  rmsg_number_not_found: 'PHONE_NUMBER_NOT_FOUND',
  endpoint_removed: 'ENDPOINT_REMOVED',
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
  return data.kind === 'message_not_sent' ? { code, ...sayUnsent(data) } : { code }
}

/** The contract's bound of `providerDetail`. */
const detailMax = 512
/** The client can do something about these. */
const passedOn = [400, 404, 409, 422, 429]

function sayUnsent({ status, detail }: Extract<RmsgFault, { kind: 'message_not_sent' }>): Omit<Said, 'code'> {
  return {
    ...(status !== null && passedOn.includes(status) && { status }),
    details: { providerStatus: status, providerDetail: detail && detail.slice(0, detailMax) },
  }
}
