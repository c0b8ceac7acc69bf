import type { Caller } from '../../domain/access/organization.ts'
import type { Catalog } from '../../domain/routing/catalog.ts'
import type { Stage } from '../../domain/routing/model.ts'
import { routingOfName } from '../../domain/routing/model-name.ts'
import type { Routing } from '../../domain/routing/routing.ts'
import type { SttConfig, TtsConfig } from '../../generated/realtime/types.ts'

/** What a config says of the route. Throws invalid_parameter for a model that the catalog does not have. */
export function routingOfConfig(
  catalog: Catalog,
  stage: Stage,
  config: Pick<SttConfig & TtsConfig, 'model' | 'optimizeFor'> & Partial<Pick<SttConfig, 'intent' | 'constraints'>>,
  caller: Caller,
): Routing {
  const objective = config.optimizeFor ?? config.intent?.optimizeFor ?? caller.policy.objective
  const allowProviders = stage === 'llm' ? undefined : config.constraints?.allowedProviders?.[stage]
  return routingOfName(catalog, {
    stage,
    ...(config.model && { name: config.model }),
    ...(objective && { objective }),
    ...(allowProviders?.length && { allowProviders }),
  })
}
