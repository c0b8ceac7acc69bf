import type { Caller } from '../../domain/access/organization.ts'
import type { RouterHandlers } from '../../generated/router/handlers.ts'
import type { OpenapiDocument } from '../../generated/router/types.ts'
import { serveContract } from '../contract.ts'

/** Its header names carry this deployer's prefix. */
export function createGetOpenapi(contract: string, headerPrefix: string): RouterHandlers<Caller>['getOpenapi'] {
  const renamed = () => contract.replace(/\bService-(?=[A-Z])/g, `${headerPrefix}-`)
  return serveContract<OpenapiDocument>(renamed)
}
