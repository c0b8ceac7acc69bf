import type { Caller } from '../domain/access/organization.ts'
import type { Catalog } from '../domain/catalog/catalog.ts'
import type { Objective, Stage } from '../domain/catalog/model.ts'
import { routingOfName } from '../domain/routing/model-name.ts'
import type { Routing } from '../domain/routing/routing.ts'

/** What a request of the compatible surface, or the config of a socket, says of the route. */
export type Wishes = {
  model?: string
  optimizeFor?: Objective
  intent?: { optimizeFor?: Objective }
  constraints?: { allowedProviders?: Partial<Record<Stage, readonly string[]>> }
}

/** A request's own objective goes before the key's. Throws invalid_parameter for a model that the catalog does not have. */
export function routingOf(catalog: Catalog, stage: Stage, caller: Caller, wishes: Wishes): Routing {
  const { model: name, optimizeFor, intent, constraints } = wishes
  const objective = optimizeFor ?? intent?.optimizeFor ?? caller.policy.objective
  return routingOfName(catalog, { stage, name, objective, allowProviders: constraints?.allowedProviders?.[stage] })
}
