import type { ActorNames } from '../../domain/access/api-keys.ts'
import { arrayLiteral } from '../postgres/row-values.ts'
import type { Tenancy } from '../postgres/tenant.ts'

type Named = { id: string; name: string | null }

/**
 * Looks up the names of people and API keys for display. Only the operator's access reads the table with people's
 * e-mail addresses, so this reads only the ids on the page.
 */
export function createActorNames(tenancy: Tenancy): ActorNames {
  return {
    async read(organizationId, actors, people) {
      const idsOf = (type: 'user' | 'api_key') => [
        ...new Set(actors.flatMap((actor) => (actor?.type === type && actor.id !== null ? [actor.id] : []))),
      ]
      const [users, keys] = [idsOf('user'), idsOf('api_key')]
      const rows = [
        ...(users.length === 0
          ? []
          : await tenancy.asOperator(
              (tx) =>
                tx<Named[]>`select id, ${tx(people)} as name from users where id = any(${arrayLiteral(users)}::text[])`,
            )),
        ...(keys.length === 0
          ? []
          : await tenancy.asOrganization(
              organizationId,
              (tx) => tx<Named[]>`
                select id, name from api_keys where organization_id = ${organizationId} and id = any(${arrayLiteral(keys)}::text[])`,
            )),
      ]
      const names = new Map(rows.map(({ id, name }) => [id, name]))
      return ({ id }) => (id === null ? null : (names.get(id) ?? null))
    },
  }
}
