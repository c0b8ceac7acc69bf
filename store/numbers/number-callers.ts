import type { CallersOfNumbers } from '../../domain/records/callable-number.ts'
import type { Organization } from '../../domain/records/organization.ts'
import { ownKeys } from '../access/caller-columns.ts'
import type { Tenancy } from '../postgres/tenant.ts'

/**
 * Finds the API client (`Caller`) for a phone call to an organization's number. Such a call has no API key. So the
 * client has the organization's settings, and the number's id instead of a key's id.
 */
export function createNumberCallers(tenancy: Tenancy): CallersOfNumbers {
  return {
    find: ({ organizationId, test }, keyId) =>
      tenancy.asOrganization(organizationId, async (tx) => {
        const [organization] = await tx<Organization[]>`
          select o.id, o.name, o.max_concurrency as "maxConcurrency", o.is_disabled as "isDisabled", ${ownKeys(tx)} as "ownKeys"
          from organizations o where o.id = ${organizationId}`
        return organization === undefined ? null : { organization, keyId, scopes: [], test, policy: {} }
      }),
  }
}
