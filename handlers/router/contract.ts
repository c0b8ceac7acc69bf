import type { Caller } from '../../domain/access/organization.ts'
import type { RouterHandlers } from '../../generated/router/handlers.ts'
import type { OpenapiDocument } from '../../generated/router/types.ts'

/** The contract as it stands in specs/, parsed once; its header names carry this deployer's prefix. */
export function createGetOpenapi(contract: string, headerPrefix: string): RouterHandlers<Caller>['getOpenapi'] {
  const renamed = headerPrefix === 'Service' ? contract : contract.replace(/\bService-(?=[A-Z])/g, `${headerPrefix}-`)
  const body = JSON.parse(renamed) as OpenapiDocument
  return () => ({ status: 200, body })
}
