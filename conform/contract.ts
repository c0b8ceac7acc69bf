/** Reads operations, channels and error codes from a served document. */
import { type Ref, resolve } from '../codegen/reference.ts'
import type { Schema } from '../codegen/schema.ts'

export type Media = {
  type: string
  schema: Schema
  examples: ReadonlyMap<string, unknown>
  /** The part order in a multipart body (`x-part-order`). Null if the parts may come in any order. */
  partOrder: readonly string[] | null
  /** True if the media type is an event stream with names (`x-sse-events`). */
  hasNamedEvents: boolean
}
export type Header = { required: boolean; schema: Schema }
export type Response = { headers: ReadonlyMap<string, Header>; content: readonly Media[] }
export type Parameter = { in: string; name: string; required: boolean; schema: Schema; example: unknown }
export type Deprecation = { deprecatedAt: string; sunset: string; link: string }
export type Operation = {
  id: string
  surface: string
  method: string
  /** The path template with the API's base path. */
  path: string
  parameters: readonly Parameter[]
  /** `takesAnyType` is `x-any-media-type`: other content types are taken too. */
  body: { required: boolean; media: Media; takesAnyType: boolean } | null
  responses: ReadonlyMap<string, Response>
  /** `x-stream-switch`: the body's field that selects the event stream, or `Accept`. Null for other operations. */
  streamSwitch: string | null
  /** `x-stream-value`: the value that requests an event stream, for the field in `streamSwitch`. */
  streamValue: string | true
  /** The scope that an API key needs (`x-scope`). Null if the operation needs no scope. */
  scope: string | null
  /** True if every request needs an API key. */
  secured: boolean
  deprecation: Deprecation | null
}
export type Channel = {
  id: string
  surface: string
  address: string
  subprotocol: string
  requiresSubprotocol: boolean
  credentialPrefix: string
  /** True if client frames may have undeclared fields. */
  openFrames: boolean
  /** Example frames from the client, by message name. */
  receives: ReadonlyMap<string, readonly unknown[]>
  /** Names of the server's messages. */
  sends: readonly string[]
}
export type ErrorRow = { status?: number | null; closeCode?: number | null; type?: string; retryable: boolean }
export type Document = {
  openapi?: string
  asyncapi?: string
  servers?: { url?: string }[] | object
  security?: object[]
  paths?: Record<string, PathItem>
  channels?: Record<string, RawChannel>
  operations?: Record<string, RawAction>
  components?: { schemas?: Record<string, Schema> }
  'x-error-codes'?: Record<string, ErrorRow>
}

type Examples = Record<string, { value?: unknown } & Ref>
type RawMedia = {
  schema?: Schema
  examples?: Examples
  example?: unknown
  'x-part-order'?: string[]
  'x-sse-events'?: Record<string, string>
}
type RawContent = Record<string, RawMedia>
type RawParameter = {
  in: string
  name: string
  required?: boolean
  schema?: Schema
  example?: unknown
  content?: RawContent
} & Ref
type RawResponse = {
  headers?: Record<string, { required?: boolean; schema?: Schema } & Ref>
  content?: RawContent
} & Ref
type RawOperation = {
  operationId?: string
  parameters?: RawParameter[]
  requestBody?: { required?: boolean; content: RawContent; 'x-any-media-type'?: boolean } & Ref
  responses?: Record<string, RawResponse>
  security?: object[]
  'x-stream-switch'?: string
  'x-stream-value'?: string
  'x-scope'?: string
  'x-deprecation'?: Deprecation
}
const methods = ['get', 'put', 'post', 'patch', 'delete'] as const
type PathItem = { parameters?: RawParameter[] } & { [Method in (typeof methods)[number]]?: RawOperation } & Ref
type RawMessage = { name?: string; examples?: { payload?: unknown }[] } & Ref
type RawChannel = {
  address?: string
  'x-subprotocol'?: string
  'x-subprotocol-required'?: boolean
  'x-credential-prefix'?: string
  'x-open-frames'?: boolean
}
type RawAction = { action: string; channel: { $ref: string }; messages?: RawMessage[] }

/** Returns the names of all operations and channels. */
export function namesIn({ paths = {}, channels = {} }: Document): string[] {
  const operations = Object.values(paths).flatMap((item) =>
    methods.flatMap((method) => item[method]?.operationId ?? []),
  )
  return [...operations, ...Object.keys(channels)]
}

export function operationsOf(document: Document, surface: string): Operation[] {
  const base = Array.isArray(document.servers) ? String((document.servers as { url?: string }[])[0]?.url ?? '') : ''
  return Object.entries(document.paths ?? {}).flatMap(([path, entry]) => {
    const item = resolve(document, entry)
    return methods.flatMap((method) => {
      const raw = item[method]
      return raw === undefined
        ? []
        : [operationOf(document, surface, item, method, base.replace(/\/$/, '') + path, raw)]
    })
  })
}

function operationOf(
  document: Document,
  surface: string,
  item: PathItem,
  method: string,
  path: string,
  raw: RawOperation,
): Operation {
  const parameters = [...(item.parameters ?? []), ...(raw.parameters ?? [])].map((each) => resolve(document, each))
  const body = raw.requestBody === undefined ? null : resolve(document, raw.requestBody)
  const [media] = contentOf(document, body?.content)
  const security = raw.security ?? document.security ?? []
  return {
    id: raw.operationId ?? `${method} ${path}`,
    surface,
    method: method.toUpperCase(),
    path,
    // A parameter behind a broken reference has no name.
    parameters: parameters.filter(({ name }) => typeof name === 'string').map(parameterOf),
    body:
      body === null || media === undefined
        ? null
        : { required: body.required ?? false, media, takesAnyType: body['x-any-media-type'] ?? false },
    responses: new Map(
      Object.entries(raw.responses ?? {}).map(([status, entry]) => [status, responseOf(document, entry)]),
    ),
    streamSwitch: raw['x-stream-switch'] ?? null,
    streamValue: raw['x-stream-value'] ?? true,
    scope: raw['x-scope'] ?? null,
    secured: security.length > 0 && security.every((requirement) => Object.keys(requirement).length > 0),
    deprecation: raw['x-deprecation'] ?? null,
  }
}

function parameterOf({ in: place, name, required = false, schema, example, content }: RawParameter): Parameter {
  const [json] = Object.values(content ?? {})
  const text = json === undefined ? example : JSON.stringify(json.example)
  return { in: place, name, required, schema: json === undefined ? (schema ?? true) : true, example: text }
}

function responseOf(document: Document, entry: RawResponse): Response {
  const response = resolve(document, entry)
  const headers = Object.entries(response.headers ?? {}).map(([name, header]): [string, Header] => {
    const { required = false, schema = true } = resolve(document, header)
    return [name.toLowerCase(), { required, schema }]
  })
  return { headers: new Map(headers), content: contentOf(document, response.content) }
}

function contentOf(document: Document, content: RawContent = {}): Media[] {
  return Object.entries(content).map(([type, media]) => {
    const named = Object.entries(media.examples ?? {}).map(([name, entry]): [string, unknown] => {
      return [name, resolve(document, entry).value]
    })
    const examples = new Map(media.example === undefined ? named : [['example', media.example] as const, ...named])
    return {
      type,
      schema: media.schema ?? true,
      examples,
      partOrder: media['x-part-order'] ?? null,
      hasNamedEvents: media['x-sse-events'] !== undefined,
    }
  })
}

export function channelsOf(document: Document, surface: string): Channel[] {
  return Object.entries(document.channels ?? {}).map(([id, raw]) => {
    const messages = (action: string) =>
      Object.values(document.operations ?? {})
        .filter((each) => each.action === action && each.channel.$ref === `#/channels/${id}`)
        .flatMap((each) => (each.messages ?? []).map((message) => resolve(document, message)))
    const receives = messages('receive').map(({ name = '', examples = [] }): [string, unknown[]] => {
      return [name, examples.map(({ payload }) => payload)]
    })
    return {
      id,
      surface,
      address: raw.address ?? '',
      subprotocol: raw['x-subprotocol'] ?? '',
      requiresSubprotocol: raw['x-subprotocol-required'] ?? false,
      credentialPrefix: raw['x-credential-prefix'] ?? '',
      openFrames: raw['x-open-frames'] ?? false,
      receives: new Map(receives),
      sends: messages('send').map(({ name = '' }) => name),
    }
  })
}
