/**
 * A `call.pre_call` endpoint answers before a call and may change it, so at most one endpoint may match. If a call
 * could match two such endpoints, only one of the two can be enabled. So no precedence between endpoints is needed when
 * a call begins.
 */
import type { Endpoint } from '../records/webhook-endpoint.ts'

type Route = Pick<Endpoint, 'allAgents' | 'agentIds' | 'filterTags'>

/** Finds another endpoint that could match the same call. Returns null if there is no conflict. */
export function preCallConflict(endpoint: Endpoint, others: readonly Endpoint[]): Endpoint | null {
  if (!receivesPreCall(endpoint)) return null
  const conflicts = (other: Endpoint) =>
    other.id !== endpoint.id && receivesPreCall(other) && canBothMatch(endpoint, other)
  return others.find(conflicts) ?? null
}

function receivesPreCall({ events, disabledAtMs }: Endpoint): boolean {
  return disabledAtMs === null && events.includes('call.pre_call')
}

/** Returns true if a call could match both endpoints. A call has at most one agent, and one value for each tag. */
export function canBothMatch(a: Route, b: Route): boolean {
  return scopesMeet(a, b) && !tagsExclude(a.filterTags, b.filterTags)
}

function scopesMeet(a: Route, b: Route): boolean {
  return a.allAgents || b.allAgents || a.agentIds.some((id) => b.agentIds.includes(id))
}

function tagsExclude(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean {
  return Object.entries(a).some(([key, value]) => Object.hasOwn(b, key) && b[key] !== value)
}
