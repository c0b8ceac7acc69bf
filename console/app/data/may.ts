/**
 * Compares the person's role with the lowest role of an operation, so a page can say which role an action needs. The
 * server compares them too, and refuses.
 */
import type { Role } from '../../../generated/clients/typescript/models/platform.ts'
import { compatRoles } from '../../../generated/console/compat-roles.ts'
import { platformRoles } from '../../../generated/console/platform-roles.ts'
import { routerRoles } from '../../../generated/console/router-roles.ts'
import { roles } from './members.ts'
import { useSession } from './session.ts'

const lowestRoles = { ...platformRoles, ...compatRoles, ...routerRoles }

export type Operation = keyof typeof lowestRoles

export const lowestRole = (operation: Operation): Role => lowestRoles[operation]

/** Returns true if the person's role may use the operation. */
export function useMay(operation: Operation): boolean {
  const { role } = useSession()
  return roles.indexOf(role) >= roles.indexOf(lowestRole(operation))
}
