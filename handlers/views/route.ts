import type { Route } from '../../domain/dispatch/request.ts'
import type { Route as WireRoute } from '../../generated/router/types.ts'

/** Returns the headers that name a request's route and forbid caching its content. */
export function routeHeaders(route: Route) {
  return {
    'Service-Attempt-ID': route.attemptId,
    'Service-Provider': route.provider,
    'Service-Model': route.model,
    'Cache-Control': 'no-store' as const,
  }
}

export function wireRoute(route: Route, region: string): WireRoute {
  return { provider: route.provider, model: route.model, region, attempt_id: route.attemptId }
}
