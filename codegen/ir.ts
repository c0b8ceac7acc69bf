/**
 * The intermediate representation: everything that a target knows of a document. References to parameters, responses, headers
 * and examples are resolved; references between components stay, because the component's name becomes the type's name.
 *
 *   OpenAPI  document ─┬─ operations ─┬─ parameters[]
 *                      ├─ webhooks    ├─ body ──────── content[] ─ schema, value
 *                      ├─ components  └─ responses[] ─ headers[], content[] ─ schema, value | events
 *                      └─ errors
 *   AsyncAPI document ─┬─ channels ─── receives[], sends[] ─ component
 *                      ├─ components
 *                      └─ errors
 *
 * `schema` is JSON Schema as it was written: validators and rules read it. `type` and `value` are the same
 * resolved (types.ts): targets print them.
 */
import type { Schema } from './schema.ts'
import type { NamedType, Type } from './types.ts'

export type Method = 'get' | 'put' | 'post' | 'delete' | 'patch'

export type Parameter = {
  in: 'path' | 'query' | 'header'
  name: string
  required: boolean
  description: string
  /** Describes the value that the handler receives. For a header that holds JSON this is the parsed value. */
  schema: Schema
  type: Type
  /** The default, which validation fills in; undefined without one. */
  fallback: unknown
  /** Set where the parameter is described by `content` and not by `schema`: its text holds a value of this type. */
  content: MediaType | null
  /** `x-max-bytes`: a bound in UTF-8 bytes, which a schema cannot say. */
  bytesMax: number | null
  pointer: string
}

export type Example = { value: unknown; pointer: string }

export type MediaType = {
  type: string
  /** Null where the document does not describe the content. */
  schema: Schema | null
  value: Type | null
  examples: Example[]
  /** `x-part-order` of a multipart type; null where the order is free. */
  partOrder: string[] | null
  /** `x-sse-events` of an event stream: event name → component name. */
  events: Record<string, string>
  /** `x-sse-data` of an event stream without names: the component that the data of each frame is. */
  eventData: string | null
  /** The marks of the last frames of the examples: a frame's name; without a name, `[DONE]` or the `type` in the data. */
  terminalEvents: string[]
  pointer: string
}

export type Body = { required: boolean; content: MediaType[] }

export type Header = { name: string; required: boolean; type: Type }

export type Response = {
  status: string
  /** The name under `#/components/responses`; null where the operation describes the answer itself. */
  component: string | null
  headers: Header[]
  content: MediaType[]
  pointer: string
}

export type Operation = {
  id: string
  method: Method
  /** The template of an operation, the name of a webhook. */
  path: string
  summary: string
  parameters: Parameter[]
  body: Body | null
  responses: Response[]
  /** `security`: whether an API key is needed. `scope` is `x-scope`, which that key must carry. */
  secured: boolean
  scope: string | null
  bodyLimit: 'json' | 'audio'
  /** `x-raw-body`: the handler also receives the bytes of the JSON body, over which a signature was made. */
  rawBody: boolean
  /** `x-no-store`: no cache may keep the answers, which have content or secrets. Those of POST are never kept. */
  noStore: boolean
  deprecated: boolean
  deprecation: { deprecatedAt: string; sunset: string; link: string; rel?: 'successor-version' } | null
  pointer: string
}

export type ErrorRow = {
  /** Null where the code only ends a stream that is already established. */
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
  /** The names of those that are written in specs/shared.yaml. */
  shared: ReadonlySet<string>
  /** The values of `x-scope`. */
  scopes: readonly string[]
}

export type OpenApiDocument = Components & {
  kind: 'openapi'
  /** Also the folder under generated/: router for specs/router.openapi.yaml. */
  name: string
  file: string
  /** The bundled document as it was written. */
  source: Record<string, unknown>
  operations: Operation[]
  webhooks: Operation[]
  /** `x-error-codes`. A surface that has them is strict: closed bodies, one envelope, one table. */
  errors: Record<string, ErrorRow> | null
}

/** One frame of a socket. `type` is the message's name and, of a text frame, the `type` in its JSON. */
export type Message = {
  type: string
  isBinary: boolean
  /** The component that the payload refers to; null where it refers to none. */
  component: string | null
  examples: Example[]
  pointer: string
}

export type Channel = {
  id: string
  title: string
  /** Literal segments, and parameters as whole segments: /v1/calls/{id}/audio. */
  address: string
  /** Names of the address's parameters, in the order of the address. */
  parameters: string[]
  scope: string | null
  subprotocol: string | null
  requiresSubprotocol: boolean | null
  credentialPrefix: string | null
  /** The query parameters that have a list of values. */
  query: { name: string; values: string[] }[]
  /** `x-open-frames`: frames from clients may hold fields that the schemas do not name. */
  openFrames: boolean
  /** `x-frame-type`: the field of a text frame that holds its type. */
  frameType: string
  /** Client → server. */
  receives: Message[]
  /** Server → client. */
  sends: Message[]
  pointer: string
}

/** The close code and the message with which an error ends a socket. Null: the socket stays open after the error. */
export type CloseRow = { closeCode: number | null; retryable: boolean; message: string }

/** A document that has channels instead of operations. */
export type AsyncApiDocument = Components & {
  kind: 'asyncapi'
  name: string
  file: string
  source: Record<string, unknown>
  channels: Channel[]
  errors: Record<string, CloseRow>
}

/** The message of a rule about one place of the document. */
export type Finding = { pointer: string; message: string }
export type Problem = Finding & { rule: string; file: string }

/** input_audio_buffer.append → InputAudioBufferAppend */
export function pascal(name: string): string {
  return name
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')
}
