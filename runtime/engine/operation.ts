/**
 * The shape of the generated tables: facts about an operation for the HTTP engine. The tables do not say what an
 * operation does.
 */

export type Violation = { instancePath: string; keyword: string; message?: string; params: Record<string, unknown> }
/** An Ajv standalone validator: it fills in defaults in place and leaves the violations in `errors`. */
export type Validate = { (value: unknown): boolean; errors?: Violation[] | null }

export type QueryParam = { name: string; type: 'string' | 'integer' | 'number' | 'boolean'; array: boolean }
/**
 * `name` is in the spec's spelling. `bytesMax` counts UTF-8 bytes (`x-max-bytes`), because a schema's maxLength counts
 * code points. With `isJson`, handlers get the parsed value, checked by its schema.
 */
export type HeaderParam = { name: string; required: boolean; bytesMax?: number; isJson?: true }
/** `text` is a string. `texts` is a list, because the part may occur several times. */
export type Part = { name: string; kind: 'json' | 'bytes' | 'text' | 'texts'; required: boolean }

export type Body = {
  required: boolean
  /** The operation's media types, in lower case, without parameters. A body under a range (`audio/*`) stays bytes. */
  types: readonly string[]
  /** For multipart/form-data: exactly these parts, in this order if `partsOrdered`. */
  parts: readonly Part[]
  partsOrdered: boolean
  /** If true, undeclared parts are read and dropped. If false, they are refused. */
  partsOpen: boolean
  /**
   * The body's limit in the configuration: `json` is `jsonBytesMax` (`keylessBytesMax` without a key), `audio` is
   * `audioBytesMax`.
   */
  limit: 'json' | 'audio'
}

export type ResponseShape = {
  types: readonly string[]
  /** The headers that a handler may set. Headers that the HTTP engine writes on every response are not listed. */
  headers: readonly string[]
  /** The form of events in text/event-stream. `data`: without name and id, as chat completion clients expect. */
  eventFormat?: EventFormat
  /**
   * Checks a JSON response. Set only in tests and development, where a response that breaks its schema becomes a 500.
   */
  validate?: Validate
  /** Validators for the data of stream events, by event name. In the format `data` every event has the name ''. */
  events?: Readonly<Record<string, Validate>>
}

export type EventFormat = 'named' | 'data'

/** `link` is a page about the deprecation. With `rel`, it is the path of the operation's successor. */
export type Deprecation = { deprecatedAt: string; sunset: string; link: string; rel?: 'successor-version' }

export type Operation = {
  id: string
  method: 'get' | 'put' | 'post' | 'delete' | 'patch'
  /** The OpenAPI template, for spans and metrics: /v1/agents/{id} */
  path: string
  /** `path` in the notation used by uWebSockets.js: /v1/agents/:id */
  pattern: string
  pathParams: readonly string[]
  query: readonly QueryParam[]
  headers: readonly HeaderParam[]
  /** The scope that the API key needs. Null if the operation needs no key. */
  scope: string | null
  /** The lowest role of a user that may use the operation. Null if the operation needs no key. */
  role: string | null
  /** The action in the audit log. Absent if the operation is not in the log. */
  audit?: string
  body: Body | null
  /** `x-raw-body`: the handler also gets the body's exact bytes. */
  rawBody?: true
  /** `x-no-store`: no cache may keep the responses. Responses to POST are never kept. */
  noStore?: true
  /** Checks {path, query, header}. Header names are in lower case. */
  validateParams: Validate | null
  /** Checks the JSON body. For a multipart body: its JSON part, or its text parts by name. */
  validateBody: Validate | null
  responses: Readonly<Record<string, ResponseShape>>
  deprecation: Deprecation | null
}

/** States who may use an operation or a channel. Only `authenticate` interprets the two values. */
export type Access = Pick<Operation, 'scope' | 'role'>

/** A path's methods, for the header `Allow` in responses to OPTIONS and in 405 responses. */
export type PathRule = { pattern: string; allow: string }

export type Surface = { name: string; operations: readonly Operation[]; paths: readonly PathRule[] }
