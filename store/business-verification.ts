import type { BusinessVerification } from '../domain/numbers/verification.ts'
import type { Tenancy } from './tenant.ts'

/** The organization of a new installation is verified. No operation verifies others yet. */
export function createBusinessVerification(tenancy: Tenancy): BusinessVerification {
  return {
    statusOf: (organizationId) =>
      tenancy.asOrganization(organizationId, async (tx) => {
        const rows = await tx`select from organizations where id = ${organizationId} and name = 'local'`
        return rows.length > 0 ? 'approved' : 'missing'
      }),
  }
}
