/**
 * The client model: the intermediate representation with a name for each type. Targets for clients print the model.
 *
 *   Surface ─┬─ declarations[]   objects, enums and unions, each with a name
 *            ├─ operations[] ─── methods[]: one for each kind of response (JSON, audio, text, event stream)
 *            ├─ channels[] ───── sends[], receives[]
 *            ├─ webhooks[]
 *            └─ errors
 *
 * If a client's request and the server's response have different fields, the request's type has the suffix `Input`.
 */
import type { CloseRow, ErrorRow } from '../ir.ts'
import type { Literal } from '../types.ts'

/** The type of a field, list item, parameter or body. Objects are always declared by name. */
export type Use =
  | { kind: 'any' }
  | { kind: 'null' }
  /** `values` are the allowed values, such as 8000 and 16000. Null if all values are allowed. */
  | {
      kind: 'scalar'
      scalar: 'string' | 'integer' | 'number' | 'boolean'
      format: string | null
      values: Literal[] | null
    }
  /** A string that is always the same, such as a frame's `type`. */
  | { kind: 'constant'; value: string }
  | { kind: 'bytes' }
  | { kind: 'list'; item: Use }
  | { kind: 'map'; value: Use }
  | { kind: 'nullable'; of: Use }
  /** A declaration's name. */
  | { kind: 'named'; name: string }

export type ClientField = {
  name: string
  use: Use
  isRequired: boolean
  /** The server's default value. Undefined if there is no default. */
  fallback: unknown
  isDeprecated: boolean
  description: string
}

export type ObjectDeclaration = {
  kind: 'object'
  name: string
  description: string
  fields: ClientField[]
  /** The type of additional fields, which the document does not name. Null if the object has no additional fields. */
  rest: Use | null
}

/**
 * An enum, as a list of strings. A later server version may send other strings, so a client must accept an unknown
 * value.
 */
export type EnumDeclaration = { kind: 'enum'; name: string; description: string; values: string[] }

export type JsonKind = 'string' | 'number' | 'boolean' | 'object' | 'array'

export type UnionArm = {
  use: Use
  /** The tag values for this union member. Empty if the union has no tag. */
  tagValues: string[]
  json: JsonKind
}

/** A value with one of several types. The tag field, or without a tag the JSON type, tells which type it is. */
export type UnionDeclaration = {
  kind: 'union'
  name: string
  description: string
  tag: string | null
  arms: UnionArm[]
}

export type Declaration = ObjectDeclaration | EnumDeclaration | UnionDeclaration

export type ClientParameter = ClientField & {
  in: 'path' | 'query' | 'header'
  /** True if the text in the header is JSON. */
  isJson: boolean
}

export type FormPart = ClientField & { kind: 'bytes' | 'text' | 'json'; isList: boolean }

export type ClientBody =
  | { kind: 'json'; isRequired: boolean; use: Use }
  /** The parts go over the wire in this order. */
  | { kind: 'multipart'; isRequired: boolean; parts: FormPart[] }
  | { kind: 'bytes'; isRequired: boolean; mediaTypes: string[] }

export type ClientAnswer =
  | { kind: 'none' }
  | { kind: 'json'; use: Use }
  | { kind: 'text' }
  | { kind: 'bytes' }
  /** Events with names. The stream ends after a terminal event. `identity` is the media type's `eventIdentity`. */
  | {
      kind: 'events'
      events: { event: string; use: Use }[]
      terminalEvents: string[]
      identity: Record<string, string> | null
    }
  /** Frames without names. The last frame is `[DONE]`, or has one of these types. */
  | { kind: 'data'; use: Use; terminalEvents: string[] }

/**
 * A client's method. An operation has one for each kind of response: `createResponse`, and `createResponseStream` for
 * events.
 */
export type ClientMethod = {
  name: string
  answer: ClientAnswer
  /** The media types for the request's header Accept. */
  mediaTypes: string[]
  /**
   * True: the client sets the body's field `streamSwitch` to `streamValue`. False: it sets the field to false. Null: it
   * does not set the field.
   */
  setsStream: boolean | null
}

export type ClientOperation = {
  id: string
  method: string
  path: string
  summary: string
  isDeprecated: boolean
  needsKey: boolean
  /** True if the operation takes an Idempotency-Key. If the caller gives no key, the client makes a key. */
  isIdempotent: boolean
  /** All parameters except Idempotency-Key. */
  parameters: ClientParameter[]
  body: ClientBody | null
  /** The name of the body's field to request an event stream. Null if no field does this. */
  streamSwitch: string | null
  /** The value that requests an event stream, in the body's field that `streamSwitch` names. */
  streamValue: string | true
  methods: ClientMethod[]
}

/** A text frame, or a binary frame with audio. `use` is null if the frame is binary. */
export type ClientFrame = { type: string; isBinary: boolean; use: Use | null }

export type ClientChannel = {
  id: string
  title: string
  address: string
  parameters: string[]
  query: { name: string; values: string[] }[]
  subprotocol: string | null
  /** If the credential is a token for a browser, this prefix and the token are a second subprotocol. */
  credentialPrefix: string | null
  /** The field whose constant gives a text frame's type. */
  frameType: string
  sends: ClientFrame[]
  receives: ClientFrame[]
}

export type ClientWebhook = { id: string; event: string; summary: string; body: Use; headers: ClientParameter[] }

export type Surface = {
  name: string
  file: string
  /** The path before the paths of the operations and channels: /router. Empty at the server's root. */
  prefix: string
  declarations: Declaration[]
  operations: ClientOperation[]
  channels: ClientChannel[]
  webhooks: ClientWebhook[]
  /** The error responses by code. Null if the API has no codes. */
  errors: Record<string, ErrorRow> | null
  /** The errors by code, with the close codes if they end a socket. */
  closeCodes: Record<string, CloseRow> | null
}
