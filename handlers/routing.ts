import type { Catalog } from '../domain/catalog/catalog.ts'
import { type OptimizeFor, objectiveOf, type Stage } from '../domain/ports/model.ts'
import type { Caller } from '../domain/records/organization.ts'
import type { Routing } from '../domain/routing/ask.ts'
import { routingOfName } from '../domain/routing/model-name.ts'

/** The routing fields in a request to the OpenAI-compatible API, or in the `config` frame of a stream socket. */
export type Wishes = {
  model?: string
  optimizeFor?: OptimizeFor
  region?: string
  intent?: { optimizeFor?: OptimizeFor; region?: string }
  constraints?: { allowedProviders?: Partial<Record<Stage, readonly string[]>> }
}

/**
 * Reads a request's routing. The request's objective has precedence over the API key's objective. Throws the fault
 * unknown_model, ambiguous_model or model_not_allowed.
 */
export function routingOf(catalog: Catalog, stage: Stage, caller: Caller, wishes: Wishes): Routing {
  const { model: name, optimizeFor, intent, constraints } = wishes
  const word = optimizeFor ?? intent?.optimizeFor
  const objective = word === undefined ? caller.policy.objective : objectiveOf(word)
  const { aliases } = caller.policy
  const allowProviders = constraints?.allowedProviders?.[stage]
  const region = wishes.region ?? intent?.region
  return routingOfName(catalog, { stage, name, objective, region, allowProviders, aliases })
}
