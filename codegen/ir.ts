/**
 * The intermediate representation: all facts that targets need. References to parameters, responses, headers and
 * examples are resolved. References between components stay, because the component's name becomes the type's name.
 *
 *   OpenAPI  document ─┬─ operations ─┬─ parameters[]
 *                      ├─ webhooks    ├─ body ──────── content[] ─ schema, value
 *                      ├─ components  └─ responses[] ─ headers[], content[] ─ schema, value | events
 *                      └─ errors
 *   AsyncAPI document ─┬─ channels ─── receives[], sends[] ─ component
 *                      ├─ components
 *                      └─ errors
 *
 * `schema` is the original JSON Schema, for validators and rules. `type` and `value` are the same schema resolved
 * (types.ts), for printing.
 */
import type { Schema } from './schema.ts'
import type { NamedType, Type } from './types.ts'

export type Method = 'get' | 'put' | 'post' | 'delete' | 'patch'

export type Parameter = {
  in: 'path' | 'query' | 'header'
  name: string
  required: boolean
  description: string
  /** Describes the handler's value. If a header contains JSON, this is the parsed value. */
  schema: Schema
  type: Type
  /** The default, filled in by validation. Undefined without a default. */
  fallback: unknown
  /**
   * Set if the document describes the parameter by `content` instead of `schema`. The parameter's text then holds a
   * value of this media type.
   */
  content: MediaType | null
  /** `x-max-bytes`: a bound in UTF-8 bytes, which a schema cannot express. */
  bytesMax: number | null
  pointer: string
}

export type Example = { value: unknown; pointer: string }

export type MediaType = {
  type: string
  /** Null if the document does not describe the content. */
  schema: Schema | null
  value: Type | null
  examples: Example[]
  /** `x-part-order` for a multipart type. Null if the order is free. */
  partOrder: string[] | null
  /** `x-sse-events` on an event stream, which has no schema: event name → component name. */
  events: Record<string, string>
  /**
   * `x-sse-identity` on a stream with Last-Event-ID, which repeats events: event name → the field that tells two events
   * apart. An event without such a field reports a state. If its data equals the data of the previous state event, the
   * event is a repetition. Null if the client cannot resume the stream.
   */
  eventIdentity: Record<string, string> | null
  /** `x-sse-data` on an event stream without names: the component in each frame's data. */
  eventData: string | null
  /**
   * The strings that mark a stream's last frame, read from the examples: the frame's event name, or without a name,
   * `[DONE]` or the `type` in the data.
   */
  terminalEvents: string[]
  pointer: string
}

export type Body = {
  required: boolean
  content: MediaType[]
  /** `x-any-media-type`: the server also takes a body with another media type, or without a media type. */
  takesAnyType: boolean
}

export type Header = { name: string; required: boolean; schema: Schema; type: Type }

export type Response = {
  status: string
  /** The name under `#/components/responses`. Null if the operation describes the response itself. */
  component: string | null
  headers: Header[]
  content: MediaType[]
  pointer: string
}

export type Operation = {
  id: string
  method: Method
  /** An operation's path template, or a webhook's name. */
  path: string
  summary: string
  parameters: Parameter[]
  body: Body | null
  responses: Response[]
  /** `security`: true if the client needs an API key. `scope` is `x-scope`, which that key must have. */
  secured: boolean
  scope: string | null
  /** `x-role`: the lowest role of a user that may use the operation, or `none`. */
  role: string | null
  /** `x-audit`: the action in the audit log, or `none`. Null for operations that change nothing. */
  audit: string | null
  bodyLimit: 'json' | 'audio'
  /** `x-raw-body`: the handler also receives the JSON body's bytes, because a signature covers them. */
  rawBody: boolean
  /**
   * `x-stream-switch`: the body's field or part that selects the event stream. Null if the operation has one kind of
   * response, or if the header Accept selects it.
   */
  streamSwitch: string | null
  /**
   * The value that requests an event stream, in the request field that `streamSwitch` names: true, or the text in
   * `x-stream-value`.
   */
  streamValue: string | true
  /** True if the header Accept selects the event stream (`x-stream-switch: Accept`). */
  streamsByAccept: boolean
  /**
   * `x-no-store`: no cache may keep the responses, because they have content or secrets. POST responses are never kept.
   */
  noStore: boolean
  deprecated: boolean
  deprecation: { deprecatedAt: string; sunset: string; link: string; rel?: 'successor-version' } | null
  pointer: string
}

export type ErrorRow = {
  /** Null if the code only ends an established stream. */
  status: number | null
  type: string
  retryable: boolean
  message: string
  hint: string
  headers: string[]
}

export type Components = {
  schemas: Record<string, Schema>
  types: NamedType[]
  /** The names of types from specs/shared.yaml. */
  shared: ReadonlySet<string>
  /** The values of `x-scope`. */
  scopes: readonly string[]
  /** The values of `x-role`, from the lowest to the highest. */
  roles: readonly string[]
}

export type OpenApiDocument = Components & {
  kind: 'openapi'
  /** The API's name, also the name of its folder in generated/: router for specs/router.openapi.yaml. */
  name: string
  file: string
  /** The bundled document as it was written. */
  source: Record<string, unknown>
  /** The path before the operations' paths, from `servers`: /router. Empty if the API is at the server's root. */
  prefix: string
  operations: Operation[]
  webhooks: Operation[]
  /**
   * `x-error-codes`. An API with error codes is strict: request bodies allow no unknown fields, all errors have one
   * form of body, and one table lists all error codes.
   */
  errors: Record<string, ErrorRow> | null
}

/** One frame on a socket. `type` is the message's name, and the `type` in a text frame's JSON. */
export type Message = {
  type: string
  isBinary: boolean
  /** The payload's component. Null if the payload refers to no component. */
  component: string | null
  examples: Example[]
  pointer: string
}

export type Channel = {
  id: string
  title: string
  /** The channel's URL path (AsyncAPI's address). A parameter is a whole segment: /v1/calls/{id}/audio. */
  address: string
  /** The path's parameter names, in the path's order. */
  parameters: string[]
  scope: string | null
  role: string | null
  subprotocol: string | null
  requiresSubprotocol: boolean | null
  credentialPrefix: string | null
  /** The query parameters. `values` is empty if a parameter can have any value. */
  query: { name: string; values: string[] }[]
  /** `x-open-frames`: client frames may have fields outside the schemas. */
  openFrames: boolean
  /** `x-frame-type`: the field with a text frame's type. */
  frameType: string
  /** The messages from the client to the server. */
  receives: Message[]
  /** The messages from the server to the client. */
  sends: Message[]
  pointer: string
}

/** The close code and message when an error ends a socket. Null if the socket stays open. */
export type CloseRow = { closeCode: number | null; retryable: boolean; message: string }

/** A document with channels instead of operations. */
export type AsyncApiDocument = Components & {
  kind: 'asyncapi'
  name: string
  file: string
  source: Record<string, unknown>
  channels: Channel[]
  errors: Record<string, CloseRow>
}

/** A rule's message about one location in the document. */
export type Finding = { pointer: string; message: string }
export type Problem = Finding & { rule: string; file: string }

/** The header for a key that lets a request run at most once. */
export const idempotencyKey = 'Idempotency-Key'

export function isIdempotent({ parameters }: Pick<Operation, 'parameters'>): boolean {
  return parameters.some((parameter) => parameter.in === 'header' && parameter.name === idempotencyKey)
}

/** Joins a name's parts in PascalCase: input_audio_buffer.append → InputAudioBufferAppend. */
export function pascal(name: string): string {
  return name
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')
}
