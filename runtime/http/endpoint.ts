/** Prepares operations at the start, so a request only looks up the results. */
import { serializeItem } from 'structured-headers'
import type { Handler } from '../engine/handler.ts'
import { renameHeader } from '../engine/head.ts'
import type { Deprecation, EventFormat, Operation, ResponseShape, Validate } from '../engine/operation.ts'
import type { Mount } from '../engine/options.ts'

export type Endpoint = {
  operation: Operation
  mount: Mount
  handler: Handler
  /** Header name on the wire → header name in the spec, both in lower case. */
  requestHeaders: ReadonlyMap<string, string>
  answers: ReadonlyMap<number, Answer>
  /** Headers for each response to the operation, as alternating names and values. */
  constantHeaders: readonly string[]
}

/** An operation's response with one status. */
export type Answer = {
  types: readonly string[]
  /** Each header's name in the spec and its name on the wire. Headers written by the HTTP engine are left out. */
  headers: readonly (readonly [string, string])[]
  /** Null: JSON responses are not checked. */
  validate: Validate | null
  eventFormat: EventFormat
  /** Validators for each event's data, by event name. Null: events are not checked. */
  events: Readonly<Record<string, Validate>> | null
}

/** Prepares an operation for its requests. Throws if the mount has no handler for the operation. */
export function createEndpoint(mount: Mount, operation: Operation, headerPrefix: string): Endpoint {
  const handler = mount.handlers[operation.id]
  if (!handler) throw new Error(`surface ${mount.surface.name}: no handler for ${operation.id}`)
  const wireName = (name: string) => renameHeader(name, headerPrefix)
  return {
    operation,
    mount,
    handler,
    requestHeaders: new Map(operation.headers.map(({ name }) => [wireName(name).toLowerCase(), name.toLowerCase()])),
    answers: new Map(
      Object.entries(operation.responses).map(([status, shape]) => [Number(status), answer(shape, wireName)]),
    ),
    constantHeaders: operation.deprecation ? deprecationHeaders(operation.deprecation) : [],
  }
}

/** Headers that the HTTP engine derives from the result's body. */
const bodyHeaders = new Set(['content-type', 'content-length'])

function answer(shape: ResponseShape, wireName: (name: string) => string): Answer {
  const written = shape.headers.filter((name) => !bodyHeaders.has(name.toLowerCase()))
  return {
    types: shape.types,
    headers: written.map((name) => [name, wireName(name)] as const),
    validate: shape.validate ?? null,
    eventFormat: shape.eventFormat ?? 'named',
    events: shape.events ?? null,
  }
}

/**
 * Returns the headers Deprecation (RFC 9745, a structured date), Sunset (RFC 8594, an HTTP-date) and Link (RFC 8288).
 */
function deprecationHeaders({ deprecatedAt, sunset, link, rel }: Deprecation): string[] {
  return [
    'Deprecation',
    serializeItem(new Date(deprecatedAt)),
    'Sunset',
    new Date(sunset).toUTCString(),
    'Link',
    rel === undefined ? `<${link}>; rel="deprecation"; type="text/html"` : `<${link}>; rel="${rel}"`,
  ]
}
