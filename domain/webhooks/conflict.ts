/**
 * An endpoint of `call.pre_call` answers before a call and may change it, so only one may match. No two that could both match
 * some call are enabled at a time, and nothing needs precedence when a call begins.
 */
import type { Endpoint } from '../records/webhook-endpoint.ts'

type Route = Pick<Endpoint, 'allAgents' | 'agentIds' | 'filterTags'>

/** One of the others that could match a call which this endpoint matches too. */
export function preCallConflict(endpoint: Endpoint, others: readonly Endpoint[]): Endpoint | null {
  if (!isAsked(endpoint)) return null
  const conflicts = (other: Endpoint) => other.id !== endpoint.id && isAsked(other) && canBothMatch(endpoint, other)
  return others.find(conflicts) ?? null
}

function isAsked({ events, disabledAtMs }: Endpoint): boolean {
  return disabledAtMs === null && events.includes('call.pre_call')
}

/** A call has one agent or none, and one value for each tag. */
export function canBothMatch(a: Route, b: Route): boolean {
  return scopesMeet(a, b) && !tagsExclude(a.filterTags, b.filterTags)
}

function scopesMeet(a: Route, b: Route): boolean {
  return a.allAgents || b.allAgents || a.agentIds.some((id) => b.agentIds.includes(id))
}

function tagsExclude(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean {
  return Object.entries(a).some(([key, value]) => Object.hasOwn(b, key) && b[key] !== value)
}
