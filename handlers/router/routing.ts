/** Reads the routing object, and checks the rules that its schema cannot express. */
import { type Objective, type OptimizeFor, objectiveOf } from '../../domain/ports/model.ts'
import type { Caller } from '../../domain/records/organization.ts'
import type { Routing } from '../../domain/routing/ask.ts'
import type { Routing as WireRouting } from '../../generated/router/types.ts'
import { Refusal } from '../../runtime/engine/handler.ts'

export function routingOf(wire: WireRouting | undefined, caller: Caller): Routing {
  return readRouting(wire && rawRouting(wire), caller.policy.objective)
}

function rawRouting(wire: WireRouting): RawRouting {
  if (wire.mode === 'explicit')
    return { mode: wire.mode, model: wire.model, ...(wire.provider && { provider: wire.provider }) }
  return {
    mode: wire.mode,
    ...(wire.objective && { objective: wire.objective }),
    ...(wire.allow_providers && { allowProviders: wire.allow_providers }),
    ...(wire.deny_providers && { denyProviders: wire.deny_providers }),
  }
}

/** The routing object as it arrived. Its schema was checked, but not the rules between its fields. */
export type RawRouting = {
  mode: 'auto' | 'explicit'
  objective?: OptimizeFor
  allowProviders?: readonly string[]
  denyProviders?: readonly string[]
  provider?: string
  model?: string
}

/**
 * Reads the routing. Without an object, routing is automatic. `objectiveDefault` is the API key's objective, used if
 * the request states no objective.
 */
export function readRouting(raw: RawRouting | undefined, objectiveDefault: Objective = 'balanced'): Routing {
  if (raw === undefined) return { mode: 'auto', objective: objectiveDefault }
  return raw.mode === 'explicit' ? readExplicit(raw) : readAuto(raw, objectiveDefault)
}

function readAuto(raw: RawRouting, objectiveDefault: Objective): Routing {
  for (const field of ['provider', 'model'] as const)
    if (raw[field]) throw otherArm(field, 'explicit', 'Leave it out, or set mode to explicit.')
  const allowProviders = readFilter(raw.allowProviders, '/routing/allow_providers')
  const denyProviders = readFilter(raw.denyProviders, '/routing/deny_providers')
  return {
    mode: 'auto',
    objective: raw.objective === undefined ? objectiveDefault : objectiveOf(raw.objective),
    ...(allowProviders && { allowProviders }),
    ...(denyProviders && { denyProviders }),
  }
}

/** Reads a filter. An empty list counts as no filter, because no provider would pass it. */
function readFilter(ids: readonly string[] | undefined, param: string): readonly string[] | undefined {
  const blank = ids?.findIndex((id) => id.trim() === '') ?? -1
  if (blank >= 0) throw invalid(`${param}/${blank}`, 'A provider id must not be blank.')
  return ids?.length ? ids : undefined
}

function readExplicit(raw: RawRouting): Routing {
  // Explicit routing allows no filter, not even an empty list.
  const foreign = { objective: raw.objective, allow_providers: raw.allowProviders, deny_providers: raw.denyProviders }
  for (const [field, value] of Object.entries(foreign))
    if (value !== undefined) throw otherArm(field, 'auto', 'Explicit routing carries exactly provider and model.')
  const { provider, model } = splitPin(raw.provider ?? '', raw.model ?? '')
  if (provider === '' || model === '')
    throw invalid(
      '/routing/model',
      'Explicit routing needs a provider and a model.',
      'Send provider and model, or model as "provider/model".',
    )
  return { mode: 'explicit', provider, model }
}

/** Splits `provider/model` at the first slash, because vendors' model ids may contain slashes. */
function splitPin(provider: string, model: string): { provider: string; model: string } {
  if (provider !== '') {
    const prefix = `${provider}/`
    return { provider, model: model.startsWith(prefix) ? model.slice(prefix.length) : model }
  }
  const slash = model.indexOf('/')
  return slash < 0 ? { provider, model } : { provider: model.slice(0, slash), model: model.slice(slash + 1) }
}

function otherArm(field: string, mode: Routing['mode'], hint: string): Refusal {
  return invalid(`/routing/${field}`, `${field} belongs to ${mode} routing.`, hint)
}

function invalid(param: string, message: string, hint?: string): Refusal {
  return new Refusal('invalid_parameter', { param, message, ...(hint && { hint }) })
}
