/** The operations on the access to the organization: its API keys, its people, and the log of changes. */
import type { Members } from '../../domain/access/members.ts'
import type { Invitations } from '../../domain/access/sign-in/invitations.ts'
import type { AuditLog } from '../../domain/records/audit.ts'
import { listAuditEvents } from './audit-events.ts'
import { invitationOperations } from './invitations.ts'
import { type KeysDeps, keyOperations } from './keys.ts'
import { memberOperations } from './members.ts'

export type AccessDeps = Omit<KeysDeps, 'keys'> & {
  apiKeys: KeysDeps['keys']
  members: Members
  invitations: Invitations
  audit: AuditLog
}

export function accessOperations(deps: AccessDeps) {
  return {
    ...keyOperations({ ...deps, keys: deps.apiKeys }),
    ...memberOperations(deps.members, deps.apiKeys),
    ...invitationOperations(deps.invitations, deps.apiKeys),
    listAuditEvents: listAuditEvents(deps.audit, deps.actorNames),
  }
}
