import type { Catalog } from '../../../domain/catalog/catalog.ts'
import { readLanguage } from '../../../domain/catalog/language.ts'
import type { RequestContext, Route } from '../../../domain/dispatch/request.ts'
import type { Caller } from '../../../domain/records/organization.ts'
import type { NativeMeta } from '../../../generated/compat/types.ts'
import type { Context } from '../../../runtime/engine/handler.ts'
import { preferredType } from '../../../runtime/http/accept.ts'
import { located } from '../../faults/located-fault.ts'
import { routeHeaders } from '../../views/route.ts'

/** Returns the context without an idempotency key, because clients of the OpenAI-compatible API send no keys. */
export function contextOf(context: Context<Caller>): RequestContext {
  const { caller, requestId, operation, signal, trace, logFields } = context
  return { caller, requestId, operation, signal, trace, logFields }
}

/**
 * Returns the request's language. On every POST, `X-Service-Language` has precedence over the body's language. Without
 * either, the language in the API key's policy is used. Throws the fault bad_language_tag.
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

/** Returns the canonical tag for a header's language. Throws the fault bad_language_tag, naming the header. */
export function languageIn(header: string, tag: string): string {
  try {
    return readLanguage(tag).tag
  } catch (error) {
    throw located(error, 'bad_language_tag', header)
  }
}

/**
 * Returns the headers that name the provider and model: the router API's headers and the native operations' headers.
 */
export function nativeHeaders(route: Route) {
  return {
    ...routeHeaders(route),
    'x-service-provider': route.provider,
    'x-service-model': route.model,
    'x-service-failover-count': route.failovers,
  }
}

/** Returns the header that lists the body fields not sent to the model. Returns no header if all fields were sent. */
export function ignoredHeader(fields: readonly string[]) {
  return fields.length === 0 ? {} : { 'x-service-ignored': fields.join(', ') }
}

/**
 * Makes the metadata in the response of a native operation. In a stream the metadata is the first event. `scoresRunId`
 * identifies the catalog's version, with the figures from which models were ranked.
 */
export function nativeMeta(route: Route, requestId: string, catalog: Catalog): NativeMeta {
  const { provider, model, failovers } = route
  return { requestId, provider, model, failoverCount: failovers, scoresRunId: catalog.digest() }
}

/** Returns true if the client prefers an event stream. If it accepts both forms equally, `byDefault` decides. */
export function acceptsEvents({ accept }: Context<Caller>, byDefault: boolean): boolean {
  const [json, events] = ['application/json', 'text/event-stream'] as const
  return preferredType(accept, byDefault ? [events, json] : [json, events]) === events
}

/** Makes an async event stream from events that are already available. */
export function inOrder<Event>(events: Iterable<Event, undefined>): AsyncIterable<Event> {
  const items = events[Symbol.iterator]()
  return { [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve(items.next()) }) }
}
