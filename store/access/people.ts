import type { ActorNames } from '../../domain/access/api-keys.ts'
import type { Members } from '../../domain/access/members.ts'
import type { Clock } from '../../domain/ports/system.ts'
import type { Tenancy } from '../postgres/tenant.ts'
import { createActorNames } from './actor-names.ts'
import { createMembers } from './members.ts'

export type People = { actorNames: ActorNames; members: Members }

/** Makes the repositories that show people to other people of their organization. */
export function createPeople(tenancy: Tenancy, clock: Clock): People {
  return { actorNames: createActorNames(tenancy), members: createMembers(tenancy, clock) }
}
