/** The shape of the generated tables: the facts that the engine needs of an operation. They do not say what it does. */

export type Violation = { instancePath: string; keyword: string; message?: string; params: Record<string, unknown> }
/** An Ajv standalone validator: it fills in defaults in place and leaves the violations in `errors`. */
export type Validate = { (value: unknown): boolean; errors?: Violation[] | null }

export type QueryParam = { name: string; type: 'string' | 'integer' | 'number' | 'boolean'; array: boolean }
/**
 * `name` as the spec spells it. `bytesMax` is normative in UTF-8 bytes (`x-max-bytes`), because a schema's maxLength
 * counts code points. With `isJson`, handlers get the parsed value, checked by its schema.
 */
export type HeaderParam = { name: string; required: boolean; bytesMax?: number; isJson?: true }
/** `text` is a string, `texts` a part that may come several times: a list of strings. */
export type Part = { name: string; kind: 'json' | 'bytes' | 'text' | 'texts'; required: boolean }

export type Body = {
  required: boolean
  /**
   * Media types that the operation takes, lower case without parameters. A body that matches a range (`audio/*`) stays
   * bytes.
   */
  types: readonly string[]
  /** For multipart/form-data: exactly these parts, in this order when `partsOrdered`. */
  parts: readonly Part[]
  partsOrdered: boolean
  /** Parts that are not declared are read and dropped instead of refused. */
  partsOpen: boolean
  /** The limit that bounds the body: `jsonBytesMax`, without a key `keylessBytesMax`, or `audioBytesMax` of the configuration. */
  limit: 'json' | 'audio'
}

export type ResponseShape = {
  types: readonly string[]
  /** The headers that a handler may give. Those that the engine writes on every answer are not in the table. */
  headers: readonly string[]
  /** For text/event-stream. `data`: events without name and id, as clients of chat completions read them. */
  eventFormat?: EventFormat
  /** Checks a JSON answer. Only tests and development add it: a wrong answer becomes a 500. */
  validate?: Validate
  /** As `validate`, for the data of each event of a stream. The format `data` has one event, named ''. */
  events?: Readonly<Record<string, Validate>>
}

export type EventFormat = 'named' | 'data'

/** `link` is a page about it, or the address that replaces the operation. */
export type Deprecation = { deprecatedAt: string; sunset: string; link: string; rel?: 'successor-version' }

export type Operation = {
  id: string
  method: 'get' | 'put' | 'post' | 'delete' | 'patch'
  /** The OpenAPI template, for spans and metrics: /v1/agents/{id} */
  path: string
  /** The same as uWebSockets.js writes it: /v1/agents/:id */
  pattern: string
  pathParams: readonly string[]
  query: readonly QueryParam[]
  headers: readonly HeaderParam[]
  /** The scope that the key must have; null needs no key. */
  scope: string | null
  body: Body | null
  /** `x-raw-body`: the handler also gets the exact bytes of the body. */
  rawBody?: true
  /** `x-no-store`: no cache may keep the answers. Those of POST are never kept. */
  noStore?: true
  /** Checks {path, query, header}; header names lower case. */
  validateParams: Validate | null
  /** Checks the JSON body; for a multipart body its JSON part, or its text parts by name. */
  validateBody: Validate | null
  responses: Readonly<Record<string, ResponseShape>>
  deprecation: Deprecation | null
}

/** The methods of a path, which 405 and OPTIONS answer. */
export type PathRule = { pattern: string; allow: string }

export type Surface = { name: string; operations: readonly Operation[]; paths: readonly PathRule[] }
