/** The shape of the generated tables: what the engine must know of an operation, and nothing of what it means. */

export type Violation = { instancePath: string; keyword: string; message?: string; params: Record<string, unknown> }
/** An Ajv standalone validator: fills in defaults in place, leaves what is wrong in `errors`. */
export type Validate = { (value: unknown): boolean; errors?: Violation[] | null }

export type QueryParam = { name: string; type: 'string' | 'integer' | 'number' | 'boolean'; array: boolean }
/**
 * `name` as the spec spells it. `bytesMax` is normative in UTF-8 bytes (`x-max-bytes`): a schema's maxLength counts code points. `isJson`: handlers
 * are given what the text says, checked by its schema.
 */
export type HeaderParam = { name: string; required: boolean; bytesMax?: number; isJson?: true }
/** `text` is a string, `texts` a part that may come several times: a list of strings. */
export type Part = { name: string; kind: 'json' | 'bytes' | 'text' | 'texts'; required: boolean }

export type Body = {
  required: boolean
  /** Media types that the operation takes, lower case without parameters. Ranges (`audio/*`) stay bytes, whatever they are. */
  types: readonly string[]
  /** multipart/form-data: exactly these parts in this order when `partsOrdered`. */
  parts: readonly Part[]
  partsOrdered: boolean
  /** Parts that are not named are read and dropped instead of refused. */
  partsOpen: boolean
  /** Which limit bounds the body: `json` or `audio` (configuration names the bytes). */
  limit: 'json' | 'audio'
}

export type ResponseShape = {
  types: readonly string[]
  headers: readonly string[]
  validate: Validate | null
  /** Of text/event-stream. `data`: frames without name and id, as clients of chat completions read them. */
  eventFormat?: EventFormat
}

export type EventFormat = 'named' | 'data'

export type Deprecation = { deprecatedAt: string; sunset: string; link: string }

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
  /** The scope that the key must carry; null needs no key. */
  scope: string | null
  body: Body | null
  /** The handler's context also holds the bytes of the JSON body: a signature is made over them. */
  rawBody?: true
  /** Checks {path, query, header}; header names lower case. */
  validateParams: Validate | null
  /** Checks the JSON body; of a multipart one its JSON part, or its text parts by name. */
  validateBody: Validate | null
  responses: Readonly<Record<string, ResponseShape>>
  deprecation: Deprecation | null
}

/** Per path: what 405, HEAD and OPTIONS answer. `methods` in lower case; `refused` are methods that a wider template would take instead. */
export type PathRule = { pattern: string; allow: string; refused: readonly string[] }

export type Surface = { name: string; operations: readonly Operation[]; paths: readonly PathRule[] }
