/**
 * Converts one OpenAPI document to the intermediate representation (ir.ts). Redocly has checked its structure before,
 * so the single cast from parsed YAML to the types below is safe.
 */
import { readEventStream, terminalMark } from './event-stream.ts'
import type {
  Body,
  ErrorRow,
  Example,
  Header,
  MediaType,
  Method,
  OpenApiDocument,
  Operation,
  Parameter,
  Response,
} from './ir.ts'
import { documentName, type Loaded, load, lowerComponents, type Source } from './load.ts'
import { withNoStore } from './no-store.ts'
import { type Ref, resolve } from './reference.ts'
import { escapePointer, refName, resolveSchema, type Schema } from './schema.ts'
import { fallbackOf, resolveType } from './types.ts'

const methods: readonly Method[] = ['get', 'put', 'post', 'delete', 'patch']

/** Redocly's recommended rules that are off here, each with its reason. */
const lintRules = {
  // An operation without a body and without a key has no 4xx to declare.
  'operation-4xx-response': 'off',
  // Some internal operations answer only a redirect or a socket upgrade.
  'operation-2xx-response': 'off',
  // A self-hosted service has no fixed address.
  'no-server-example.com': 'off',
  'no-empty-servers': 'off',
  // x-sse-events refers to event payloads by name, and redocly does not count this as a use.
  'no-unused-components': 'off',
  // The project's rules check the same property with a better message.
  'operation-operationId': 'off',
  'operation-operationId-unique': 'off',
  'no-identical-paths': 'off',
  'no-invalid-media-type-examples': 'off',
  // The router prefers a literal segment to a parameter, so such paths are not ambiguous.
  'no-ambiguous-paths': 'off',
} as const

export function loadOpenApi(source: Source): Promise<Loaded<OpenApiDocument>> {
  return load(source, lintRules, (bundled) => {
    const raw = withNoStore(bundled as RawDocument)
    if (!raw.openapi?.startsWith('3.1.'))
      throw new Error('it is not OpenAPI 3.1, whose schemas are JSON Schema 2020-12')
    return lowerOpenApi(raw, source)
  })
}

type RawMedia = {
  schema?: Schema
  example?: unknown
  examples?: Record<string, { value?: unknown } & Ref>
  'x-part-order'?: string[]
  'x-sse-events'?: Record<string, string>
  'x-sse-identity'?: Record<string, string>
  'x-sse-data'?: string
}
type RawHeader = { required?: boolean; schema?: Schema } & Ref
type RawParameter = {
  in: Parameter['in']
  name: string
  required?: boolean
  description?: string
  schema?: Schema
  content?: RawContent
  'x-max-bytes'?: number
} & Ref
type RawContent = Record<string, RawMedia>
type RawResponse = { headers?: Record<string, RawHeader>; content?: RawContent } & Ref
type RawOperation = {
  operationId?: string
  summary?: string
  parameters?: RawParameter[]
  requestBody?: RawBody & Ref
  responses?: Record<string, RawResponse>
  security?: Record<string, string[]>[]
  deprecated?: boolean
  'x-deprecation'?: Operation['deprecation']
  'x-scope'?: string
  'x-role'?: string
  'x-audit'?: string
  'x-body-limit'?: Operation['bodyLimit']
  'x-raw-body'?: boolean
  'x-no-store'?: boolean
  'x-stream-switch'?: string
  'x-stream-value'?: string
}
type RawBody = { required?: boolean; content: RawContent; 'x-any-media-type'?: boolean }
type RawPathItem = { parameters?: RawParameter[] } & Partial<Record<Method, RawOperation>> & Ref
type RawDocument = {
  openapi?: string
  paths?: Record<string, RawPathItem>
  webhooks?: Record<string, RawPathItem>
  components?: { schemas?: Record<string, Schema> }
  servers?: { url: string }[]
  security?: Record<string, string[]>[]
  'x-error-codes'?: Record<string, Partial<ErrorRow>>
}

/** Converts the document `bundled`, which has been checked and has no references to other files. */
export function lowerOpenApi(bundled: object, { file, shared }: Pick<Source, 'file' | 'shared'>): OpenApiDocument {
  const raw = bundled as RawDocument
  return {
    ...lowerComponents(raw.components?.schemas ?? {}, shared),
    kind: 'openapi',
    name: documentName(file),
    file,
    source: raw,
    prefix: raw.servers?.[0]?.url.replace(/\/$/, '') ?? '',
    operations: lowerItems(raw, 'paths'),
    webhooks: lowerItems(raw, 'webhooks'),
    errors: raw['x-error-codes'] ? lowerErrors(raw['x-error-codes']) : null,
  }
}

function lowerItems(raw: RawDocument, section: 'paths' | 'webhooks'): Operation[] {
  return Object.entries(raw[section] ?? {}).flatMap(([path, entry]) => {
    const item = resolve(raw, entry)
    return methods.flatMap((method) => {
      const operation = item[method]
      const pointer = `#/${section}/${escapePointer(path)}/${method}`
      return operation ? [lowerOperation(raw, { path, method, pointer, item, operation })] : []
    })
  })
}

type Site = { path: string; method: Method; pointer: string; item: RawPathItem; operation: RawOperation }

function lowerOperation(raw: RawDocument, { path, method, pointer, item, operation }: Site): Operation {
  const security = operation.security ?? raw.security ?? []
  return {
    id: operation.operationId ?? '',
    method,
    path,
    summary: operation.summary ?? '',
    parameters: lowerParameters(raw, item, operation, pointer),
    body: lowerBody(raw, operation, pointer),
    responses: Object.entries(operation.responses ?? {}).map(([status, response]) =>
      lowerResponse(raw, status, response, `${pointer}/responses/${status}`),
    ),
    // An empty object in `security` means that a key is optional.
    secured: security.length > 0 && security.every((requirement) => Object.keys(requirement).length > 0),
    scope: operation['x-scope'] ?? null,
    role: operation['x-role'] ?? null,
    audit: operation['x-audit'] ?? null,
    bodyLimit: operation['x-body-limit'] ?? 'json',
    rawBody: operation['x-raw-body'] ?? false,
    ...lowerStreamSwitch(operation),
    noStore: operation['x-no-store'] ?? false,
    deprecated: operation.deprecated ?? false,
    deprecation: operation['x-deprecation'] ?? null,
    pointer,
  }
}

/**
 * Converts the parameters. An operation's parameter replaces the path item's parameter with the same `in` and `name`.
 */
function lowerParameters(raw: RawDocument, item: RawPathItem, operation: RawOperation, pointer: string): Parameter[] {
  const byKey = new Map<string, Parameter>()
  for (const entry of [...(item.parameters ?? []), ...(operation.parameters ?? [])]) {
    const parameter = resolve(raw, entry)
    const place = `${pointer}/parameters/${parameter.in}.${parameter.name}`
    // OpenAPI allows exactly one media type here.
    const [content = null] = lowerContent(raw, parameter.content ?? {}, place)
    const schema = content?.schema ?? parameter.schema ?? true
    byKey.set(`${parameter.in}:${parameter.name}`, {
      in: parameter.in,
      name: parameter.name,
      required: parameter.required ?? false,
      description: parameter.description ?? '',
      schema,
      type: resolveType(schema, schemasOf(raw)),
      fallback: fallbackOf(schema, schemasOf(raw)),
      content,
      bytesMax: parameter['x-max-bytes'] ?? null,
      pointer: place,
    })
  }
  return [...byKey.values()]
}

function lowerBody(raw: RawDocument, operation: RawOperation, pointer: string): Body | null {
  if (!operation.requestBody) return null
  const body = resolve(raw, operation.requestBody)
  return {
    required: body.required ?? false,
    content: lowerContent(raw, body.content, `${pointer}/requestBody`),
    takesAnyType: body['x-any-media-type'] ?? false,
  }
}

function lowerStreamSwitch(
  operation: RawOperation,
): Pick<Operation, 'streamSwitch' | 'streamValue' | 'streamsByAccept'> {
  const { 'x-stream-switch': name = null, 'x-stream-value': streamValue = true } = operation
  const streamsByAccept = name === 'Accept'
  return { streamSwitch: streamsByAccept ? null : name, streamValue, streamsByAccept }
}

function lowerResponse(raw: RawDocument, status: string, written: RawResponse, pointer: string): Response {
  const response = resolve(raw, written)
  const component = written.$ref === undefined ? null : refName(written.$ref, '#/components/responses/')
  const headers = Object.entries(response.headers ?? {}).map(([name, entry]): Header => {
    const { required = false, schema = true } = resolve(raw, entry)
    return { name, required, schema, type: resolveType(schema, schemasOf(raw)) }
  })
  return { status, component, headers, content: lowerContent(raw, response.content ?? {}, pointer), pointer }
}

function lowerContent(raw: RawDocument, content: RawContent, parent: string): MediaType[] {
  return Object.entries(content).map(([type, media]) => {
    const pointer = `${parent}/content/${escapePointer(type)}`
    const schema = media.schema ?? null
    const examples = lowerExamples(raw, media, pointer)
    return {
      type: type.toLowerCase(),
      schema,
      value: schema === null ? null : resolveType(schema, schemasOf(raw)),
      examples,
      partOrder: media['x-part-order'] ?? null,
      events: media['x-sse-events'] ?? {},
      eventIdentity: media['x-sse-identity'] ?? null,
      eventData: media['x-sse-data'] ?? null,
      terminalEvents: terminalMarks(examples),
      pointer,
    }
  })
}

function terminalMarks(examples: Example[]): string[] {
  const last = examples.flatMap(({ value }) => readEventStream(value).at(-1) ?? [])
  return [...new Set(last.flatMap((frame) => terminalMark(frame) ?? []))]
}

/** Returns the media type's examples. If it has no examples, returns its schema's. */
function lowerExamples(raw: RawDocument, media: RawMedia, pointer: string): Example[] {
  const named = Object.entries(media.examples ?? {}).map(([name, entry]) => ({
    value: resolve(raw, entry).value,
    pointer: `${pointer}/examples/${escapePointer(name)}`,
  }))
  const single = 'example' in media ? [{ value: media.example, pointer: `${pointer}/example` }] : []
  if (named.length + single.length > 0) return [...single, ...named]
  const schema = media.schema === undefined ? true : resolveSchema(schemasOf(raw), media.schema)
  if (typeof schema === 'boolean' || !Array.isArray(schema.examples)) return []
  return schema.examples.map((value: unknown, i) => ({ value, pointer: `${pointer}/schema/examples/${i}` }))
}

function schemasOf(raw: RawDocument): Record<string, Schema> {
  return raw.components?.schemas ?? {}
}

function lowerErrors(rows: Record<string, Partial<ErrorRow>>): Record<string, ErrorRow> {
  return Object.fromEntries(
    Object.entries(rows).map(([code, row]) => [
      code,
      {
        status: row.status ?? null,
        type: row.type ?? '',
        retryable: row.retryable ?? false,
        message: row.message ?? '',
        hint: row.hint ?? '',
        headers: row.headers ?? [],
      },
    ]),
  )
}
