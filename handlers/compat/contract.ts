import type { Caller } from '../../domain/access/organization.ts'
import type { CompatHandlers } from '../../generated/compat/handlers.ts'
import type { AsyncapiDocument, OpenapiDocument } from '../../generated/compat/types.ts'

/** The contract as it stands in specs/, parsed once; its header names carry this deployer's prefix. */
export function createGetCompatContract(
  contract: string,
  headerPrefix: string,
): CompatHandlers<Caller>['getCompatContract'] {
  const body = JSON.parse(renamed(contract, headerPrefix)) as OpenapiDocument
  return () => ({ status: 200, body })
}

/** The sockets' contract, from the same place as the others. */
export function createGetRealtimeContract(
  contract: string,
  headerPrefix: string,
): CompatHandlers<Caller>['getRealtimeContract'] {
  const own = contract.replace(/\bservice\.(?=realtime\.|ephemeral\.)/g, `${headerPrefix.toLowerCase()}.`)
  const body = JSON.parse(own) as AsyncapiDocument
  return () => ({ status: 200, body })
}

function renamed(contract: string, prefix: string): string {
  if (prefix === 'Service') return contract
  return contract
    .replace(/\b(X-)?Service-(?=[A-Z])/g, `$1${prefix}-`)
    .replace(/\bx-service-(?=[a-z])/g, `x-${prefix.toLowerCase()}-`)
}
