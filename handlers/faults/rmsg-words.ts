/** The words of the platform surface for what is wrong with rich messages. */
import type { ResourceFaultData } from '../../domain/resource-fault.ts'
import type { Said } from './said.ts'

const codes = {
  rmsg_not_enabled: 'NOT_ENABLED_FOR_ORGANIZATION',
  rmsg_number_not_found: 'PHONE_NUMBER_NOT_FOUND',
  rmsg_number_unavailable: 'RMSG_NUMBER_UNAVAILABLE',
} as const
type RmsgFault = Extract<ResourceFaultData, { kind: keyof typeof codes }>

export function isOfRmsg(data: ResourceFaultData): data is RmsgFault {
  return Object.hasOwn(codes, data.kind)
}

export function sayRmsgFault({ kind }: RmsgFault): Said {
  return { code: codes[kind] }
}
