/** Makes the store's repositories for the people of organizations and the log of their changes. */
import type { ActorNames } from '../domain/access/api-keys.ts'
import type { Members } from '../domain/access/members.ts'
import type { Clock } from '../domain/ports/system.ts'
import type { AuditLog } from '../domain/records/audit.ts'
import { createActorNames } from './access/actor-names.ts'
import { createMembers } from './access/members.ts'
import { createAuditLog } from './audit/audit-log.ts'
import type { Tenancy } from './postgres/tenant.ts'

export type People = { actorNames: ActorNames; members: Members; audit: AuditLog }

export function createPeople(tenancy: Tenancy, clock: Clock): People {
  return {
    actorNames: createActorNames(tenancy),
    members: createMembers(tenancy, clock),
    audit: createAuditLog(tenancy, clock),
  }
}
