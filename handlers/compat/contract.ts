import type { Caller } from '../../domain/access/organization.ts'
import type { CompatHandlers } from '../../generated/compat/handlers.ts'
import type { AsyncapiDocument, OpenapiDocument } from '../../generated/compat/types.ts'
import { serveContract } from '../contract.ts'

/** Its header names carry this deployer's prefix. */
export function createGetCompatContract(
  contract: string,
  headerPrefix: string,
): CompatHandlers<Caller>['getCompatContract'] {
  return serveContract<OpenapiDocument>(() => renamed(contract, headerPrefix))
}

/** The sockets' contract, from the same place as the others. */
export function createGetRealtimeContract(
  contract: string,
  headerPrefix: string,
): CompatHandlers<Caller>['getRealtimeContract'] {
  const own = () => contract.replace(/\bservice\.(?=realtime\.|ephemeral\.)/g, `${headerPrefix.toLowerCase()}.`)
  return serveContract<AsyncapiDocument>(own)
}

function renamed(contract: string, prefix: string): string {
  return contract
    .replace(/\b(X-)?Service-(?=[A-Z])/g, `$1${prefix}-`)
    .replace(/\bx-service-(?=[a-z])/g, `x-${prefix.toLowerCase()}-`)
}
