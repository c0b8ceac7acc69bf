/**
 * Reads a bundled contract for its documentation pages. The intermediate representation leaves out descriptions, limits
 * and the summaries of examples, so the pages read the document itself. References to parameters, responses, headers
 * and messages are resolved. References to schemas stay, because each becomes a link.
 */
import { type Ref, resolve } from '../reference.ts'
import { refName, resolveSchema, type Schema } from '../schema.ts'
import type {
  Channel,
  Content,
  Contract,
  ErrorCode,
  Example,
  Message,
  Named,
  Operation,
  Parameter,
} from './contract.ts'
import { descriptionOf } from './schema-text.ts'

type Text = { summary?: string; description?: string }
type RawExamples = Record<string, Text & { value?: unknown } & Ref>
/** A media type for an event stream has one of these keywords. */
type EventKeywords = { 'x-sse-events'?: Record<string, string>; 'x-sse-data'?: string }
type RawContent = Record<string, { schema?: Schema; example?: unknown; examples?: RawExamples } & EventKeywords>
type RawNamed = Text & { required?: boolean; schema?: Schema; content?: RawContent; example?: unknown } & Ref
type RawParameter = RawNamed & { in: Parameter['in']; name: string; 'x-max-bytes'?: number }
type RawAnswer = Text & { headers?: Record<string, RawNamed>; content?: RawContent } & Ref
type RawOperation = Text & {
  operationId?: string
  tags?: string[]
  parameters?: RawParameter[]
  requestBody?: Text & { required?: boolean; content: RawContent } & Ref
  responses?: Record<string, RawAnswer>
  security?: object[]
  deprecated?: boolean
  'x-scope'?: string
  'x-role'?: string
}
type RawPathItem = { parameters?: RawParameter[] } & Record<string, RawOperation> & Ref
type RawMessage = Text & {
  name?: string
  contentType?: string
  payload?: Schema
  examples?: { name?: string; payload?: unknown }[]
} & Ref
type RawFields = { properties?: Record<string, Schema>; required?: string[] }
type RawChannel = Text & {
  title?: string
  address?: string
  bindings?: { ws?: { query?: RawFields; headers?: RawFields } } & Ref
  'x-scope'?: string
  'x-role'?: string
  'x-subprotocol'?: string
} & Ref
type RawAction = { action: 'send' | 'receive'; channel: Ref; messages?: RawMessage[] }
type RawDocument = {
  info: Text & { title: string }
  servers?: { url: string }[]
  security?: object[]
  tags?: (Text & { name: string })[]
  paths?: Record<string, RawPathItem>
  webhooks?: Record<string, RawPathItem>
  channels?: Record<string, RawChannel>
  operations?: Record<string, RawAction>
  components?: { schemas?: Record<string, Schema> }
  'x-error-codes'?: Record<string, Partial<ErrorCode>>
}

/** `text` is the bundled document as JSON, from generated/<name>/contract.ts. */
export function readContract(name: string, text: string): Contract {
  const raw = JSON.parse(text) as RawDocument
  const base = Array.isArray(raw.servers) ? (raw.servers[0]?.url ?? '').replace(/\/$/, '') : ''
  return {
    name,
    base,
    title: raw.info.title,
    summary: raw.info.summary ?? '',
    description: raw.info.description ?? '',
    tags: (raw.tags ?? []).map((tag) => ({ name: tag.name, description: tag.description ?? '' })),
    operations: readOperations(raw, raw.paths, base),
    webhooks: readOperations(raw, raw.webhooks, ''),
    channels: Object.entries(raw.channels ?? {}).map(([id, channel]) => readChannel(raw, id, resolve(raw, channel))),
    schemas: raw.components?.schemas ?? {},
    errors: Object.entries(raw['x-error-codes'] ?? {}).map(([code, row]) => readError(code, row)),
  }
}

const methods = ['get', 'put', 'post', 'delete', 'patch']

function readOperations(raw: RawDocument, items: RawDocument['paths'], base: string): Operation[] {
  return Object.entries(items ?? {}).flatMap(([path, entry]) => {
    const item = resolve(raw, entry)
    return methods.flatMap((method) => {
      const operation = item[method]
      return operation ? [readOperation(raw, { method, path: base + path }, item.parameters ?? [], operation)] : []
    })
  })
}

function readOperation(
  raw: RawDocument,
  place: { method: string; path: string },
  ofPath: RawParameter[],
  operation: RawOperation,
): Operation {
  const security = operation.security ?? raw.security ?? []
  const body = operation.requestBody ? resolve(raw, operation.requestBody) : null
  return {
    ...place,
    id: operation.operationId ?? '',
    tag: operation.tags?.[0] ?? '',
    summary: operation.summary ?? '',
    description: operation.description ?? '',
    scope: operation['x-scope'] ?? null,
    role: operation['x-role'] ?? null,
    // An empty object in the list `security` means that a key is optional.
    needsKey: security.length > 0 && security.every((requirement) => Object.keys(requirement).length > 0),
    isDeprecated: operation.deprecated ?? false,
    parameters: [...ofPath, ...(operation.parameters ?? [])].map((entry) => readParameter(raw, resolve(raw, entry))),
    body: body && {
      required: body.required ?? false,
      description: body.description ?? '',
      content: readContent(raw, body.content),
    },
    answers: Object.entries(operation.responses ?? {}).map(([status, entry]) => {
      const answer = resolve(raw, entry)
      const headers = Object.entries(answer.headers ?? {}).map(([name, header]) => readNamed(raw, name, header))
      return { status, description: answer.description ?? '', headers, content: readContent(raw, answer.content ?? {}) }
    }),
  }
}

function readParameter(raw: RawDocument, parameter: RawParameter): Parameter {
  const bytesMax = parameter['x-max-bytes'] ?? null
  return { ...readNamed(raw, parameter.name, parameter), in: parameter.in, bytesMax }
}

function readNamed(raw: RawDocument, name: string, entry: RawNamed): Named {
  const { required = false, description = '', content, example, ...rest } = resolve(raw, entry)
  const schema = rest.schema ?? Object.values(content ?? {})[0]?.schema ?? true
  return { name, required, description, schema, example: example ?? exampleOf(raw, schema) }
}

function readContent(raw: RawDocument, content: RawContent): Content[] {
  return Object.entries(content).map(([type, media]) => {
    const named = Object.values(media.examples ?? {}).map((entry) => {
      const { summary = '', value } = resolve(raw, entry)
      return { summary, value }
    })
    const single = 'example' in media ? [{ summary: '', value: media.example }] : []
    return {
      type,
      schema: media.schema ?? null,
      examples: withFallback(raw, [...single, ...named], media.schema),
      events: media['x-sse-events'] ?? {},
      eventData: media['x-sse-data'] ?? null,
    }
  })
}

/** If the media type has no examples, the schema's example is shown. */
function withFallback(raw: RawDocument, examples: Example[], schema: Schema | undefined): Example[] {
  const value = examples.length > 0 || schema === undefined ? undefined : exampleOf(raw, schema)
  return value === undefined ? examples : [{ summary: '', value }]
}

function exampleOf(raw: RawDocument, schema: Schema): unknown {
  const target = resolveSchema(raw.components?.schemas ?? {}, schema)
  if (typeof target === 'boolean') return undefined
  return target['example'] ?? (target['examples'] as unknown[] | undefined)?.[0]
}

function readChannel(raw: RawDocument, id: string, channel: RawChannel): Channel {
  const actions = Object.values(raw.operations ?? {}).filter(
    (action) => refName(action.channel.$ref ?? '', '#/channels/') === id,
  )
  const messages = (wanted: RawAction['action']) =>
    actions.filter(({ action }) => action === wanted).flatMap((action) => action.messages ?? [])
  const ws = channel.bindings ? resolve(raw, channel.bindings).ws : undefined
  return {
    id,
    address: channel.address ?? '',
    summary: channel.title ?? id,
    description: channel.description ?? '',
    scope: channel['x-scope'] ?? null,
    role: channel['x-role'] ?? null,
    subprotocol: channel['x-subprotocol'] ?? null,
    query: readFields(raw, ws?.query),
    headers: readFields(raw, ws?.headers),
    received: messages('receive').map((message) => readMessage(raw, message)),
    sent: messages('send').map((message) => readMessage(raw, message)),
  }
}

function readFields(raw: RawDocument, fields: RawFields = {}): Named[] {
  return Object.entries(fields.properties ?? {}).map(([name, schema]) => ({
    name,
    required: fields.required?.includes(name) ?? false,
    description: descriptionOf(schema),
    schema,
    example: exampleOf(raw, schema),
  }))
}

function readMessage(raw: RawDocument, reference: RawMessage): Message {
  const message = resolve(raw, reference)
  return {
    name: message.name ?? '',
    summary: message.summary ?? message.description ?? '',
    isBinary: message.contentType === 'application/octet-stream',
    schema: message.payload ?? null,
    examples: (message.examples ?? []).map(({ name = '', payload }) => ({ summary: name, value: payload })),
  }
}

function readError(code: string, row: Partial<ErrorCode>): ErrorCode {
  return {
    code,
    status: row.status ?? null,
    closeCode: row.closeCode ?? null,
    isOfSocket: row.closeCode !== undefined,
    type: row.type ?? '',
    retryable: row.retryable ?? false,
    message: row.message ?? '',
    hint: row.hint ?? '',
    headers: row.headers ?? [],
  }
}
