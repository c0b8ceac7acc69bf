import type { Catalog } from '../../../domain/catalog/catalog.ts'
import { readLanguage } from '../../../domain/catalog/language.ts'
import type { RequestContext, Route } from '../../../domain/dispatch/request.ts'
import type { Caller } from '../../../domain/records/organization.ts'
import type { NativeMeta } from '../../../generated/compat/types.ts'
import type { Context } from '../../../runtime/engine/handler.ts'
import { preferredType } from '../../../runtime/http/accept.ts'
import { located } from '../../faults/located-fault.ts'
import { routeHeaders } from '../../views/route.ts'

/** The context without an idempotency key: clients of this surface send none. */
export function contextOf(context: Context<Caller>): RequestContext {
  const { caller, requestId, operation, signal, trace, logFields } = context
  return { caller, requestId, operation, signal, trace, logFields }
}

/**
 * The language of a request. `X-Service-Language` counts on every POST and goes before the language in the body; that of the key comes last.
 * Throws the fault bad_language_tag.
 */
export function languageOf(
  header: { 'x-service-language'?: string },
  ...ofBody: readonly (string | undefined)[]
): { language?: string } {
  const ofHeader = header['x-service-language']
  if (ofHeader !== undefined) return { language: languageIn('X-Service-Language', ofHeader) }
  const language = ofBody.find((tag) => tag !== undefined)
  return language === undefined ? {} : { language }
}

/** The canonical tag of a language that a header names. Throws the fault bad_language_tag with the header as its place. */
export function languageIn(header: string, tag: string): string {
  try {
    return readLanguage(tag).tag
  } catch (error) {
    throw located(error, 'bad_language_tag', header)
  }
}

/** The headers of the route, under the names of the router surface and under those of the native operations. */
export function nativeHeaders(route: Route) {
  return {
    ...routeHeaders(route),
    'x-service-provider': route.provider,
    'x-service-model': route.model,
    'x-service-failover-count': route.failovers,
  }
}

/** The header that names the fields of a request which the model that served it did not get. Absent: it got all. */
export function ignoredHeader(fields: readonly string[]) {
  return fields.length === 0 ? {} : { 'x-service-ignored': fields.join(', ') }
}

/** The first event of a native stream. `scoresRunId` names the figures behind the ranking. */
export function nativeMeta(route: Route, requestId: string, catalog: Catalog): NativeMeta {
  const { provider, model, failovers } = route
  return { requestId, provider, model, failoverCount: failovers, scoresRunId: catalog.digest() }
}

/** `byDefault`: also a client that names neither type gets events. */
export function acceptsEvents({ accept }: Context<Caller>, byDefault: boolean): boolean {
  const [json, events] = ['application/json', 'text/event-stream'] as const
  return preferredType(accept, byDefault ? [events, json] : [json, events]) === events
}

/** A stream of events that are all known already. */
export function inOrder<Event>(events: readonly Event[]): AsyncIterable<Event> {
  const items = events.values()
  return { [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve(items.next()) }) }
}
