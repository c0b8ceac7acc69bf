import type { Caller } from '../../domain/access/organization.ts'
import type { Catalog } from '../../domain/catalog/catalog.ts'
import type { Stage } from '../../domain/catalog/model.ts'
import type { Routing } from '../../domain/routing/routing.ts'
import { routingOf, type Wishes } from '../routing.ts'

/** What a config says of the route. Throws invalid_parameter for a model that the catalog does not have. */
export function routingOfConfig(catalog: Catalog, stage: Stage, config: Wishes, caller: Caller): Routing {
  return routingOf(catalog, stage, caller, config)
}
