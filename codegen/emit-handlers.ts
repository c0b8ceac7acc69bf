/**
 * generated/<name>/handlers.ts: what each handler is given and may answer. Faults are thrown, so a response whose body is the
 * error envelope is no result; every other declared status is one arm of a union on {status, type, headers, body}.
 */
import type { Header, MediaType, OpenApiDocument, Operation, Parameter, Response, Schema } from './ir.ts'
import { type PartPlan, planParts } from './parts.ts'
import { banner, pascal, printKey, printType, quote } from './print.ts'
import { TypeNames } from './type-names.ts'

/** The engine puts these on every answer that declares them, so that no handler is asked for them. */
const engineHeaders = new Set([
  'Service-Request-ID',
  'Service-Region',
  'RateLimit-Policy',
  'RateLimit',
  'Deprecation',
  'Sunset',
  'Link',
])

export function emitHandlers(document: OpenApiDocument, runtimePath: string): string {
  const types = new TypeNames(document)
  const operations = document.operations.map((operation) => emitOperation(operation, document.schemas, types))
  const usesBytes = operations.some((text) => /\bBytes\b/.test(text))
  const surface = pascal(document.name)
  const members = document.operations.map(({ id, method, path, secured }) => {
    const name = pascal(id)
    const caller = secured ? 'Caller' : 'null'
    return `  /** ${method.toUpperCase()} ${path} */\n  ${id}: Handle<${name}Request, ${name}Result, ${caller}>\n`
  })
  return `${banner('emit-handlers', document.file)}
import type { ${usesBytes ? 'Bytes, ' : ''}Context, Handlers } from '${runtimePath}/engine/handler.ts'
${types.importFrom('./types.ts')}
export type ByteStream = Uint8Array | AsyncIterable<Uint8Array>

type Handle<Request, Result, Caller> = (request: Request, context: Context<Caller>) => Result | Promise<Result>

${operations.join('\n')}
/** One thin function an operation. Errors of the contract are thrown. */
export type ${surface}Handlers<Caller> = {
${members.join('')}}

/**
 * The engine calls every handler with Input and Context<unknown>. That they are what each handler asks for is the work of the
 * validators and the auth hook, which ran before and which the compiler cannot see; so the widening stands here, once.
 */
export function widen${surface}Handlers<Caller>(handlers: ${surface}Handlers<Caller>): Handlers {
  return handlers as unknown as Handlers
}
`
}

function emitOperation(operation: Operation, schemas: Record<string, Schema>, types: TypeNames): string {
  const name = pascal(operation.id)
  const results = operation.responses.filter(isResult)
  const arms = results.flatMap((response) => emitArms(name, operation, response, types))
  const place = (where: Parameter['in']) =>
    types.parameters(
      operation.parameters.filter((parameter) => parameter.in === where),
      true,
    )
  return `${emitEventUnion(name, results, types)}export type ${name}Request = {
  path: ${place('path')}
  query: ${place('query')}
  header: ${place('header')}
  body: ${emitBody(operation, schemas, types)}
}

export type ${name}Result =
${arms.map((arm) => `  | ${arm}\n`).join('')}`
}

/** Empty for an operation without an event stream. */
export function emitEventUnion(name: string, responses: Response[], types: TypeNames): string {
  const content = responses.flatMap((response) => response.content)
  const events = content.flatMap((media) => Object.entries(media.events))
  if (events.length === 0) return emitUnnamedEvent(name, content, types)
  const arms = events.map(([event, component]) => `  | { event: ${quote(event)}; data: ${types.use(component)} }\n`)
  return `export type ${name}Event =\n${arms.join('')}\n`
}

/** Frames without a name: values, and lines that stand as they are. */
function emitUnnamedEvent(name: string, content: MediaType[], types: TypeNames): string {
  const stream = content.find((media) => media.eventData !== null)
  if (!stream?.eventData) return ''
  const mark = stream.terminalEvents.includes('[DONE]') ? " | { data: null; raw: '[DONE]' }" : ''
  return `export type ${name}Event = { data: ${types.use(stream.eventData)} }${mark}\n\n`
}

/** A status whose body is the envelope is thrown as a fault; `default` and ranges name no status that could be returned. */
function isResult(response: Response): boolean {
  return /^\d{3}$/.test(response.status) && !response.content.some((media) => isEnvelope(media.schema))
}

export function isEnvelope(schema: Schema | null): boolean {
  return typeof schema === 'object' && schema?.$ref === '#/components/schemas/ErrorEnvelope'
}

function emitBody({ id, body }: Operation, schemas: Record<string, Schema>, types: TypeNames): string {
  if (!body) return 'undefined'
  const kinds = body.content.map((media) => {
    if (media.type === 'multipart/form-data') return emitMultipart(id, media, schemas, types)
    if (media.type !== 'application/json' || media.schema === null) return 'Bytes'
    return types.schema(media.schema, 'Writable', bodyPlace(id, media))
  })
  return [...new Set(kinds), ...(body.required ? [] : ['undefined'])].join(' | ')
}

function emitMultipart(id: string, media: MediaType, schemas: Record<string, Schema>, types: TypeNames): string {
  return emitParts(planParts(media, schemas), true, types, (part) =>
    part.kind === 'bytes'
      ? 'Bytes'
      : types.schema(part.schema, 'Writable', `${bodyPlace(id, media)}[${quote(part.name)}]`),
  )
}

/** The object type of a multipart body, in part order. With `defaulted`, texts that have a default are there. */
export function emitParts(
  parts: readonly PartPlan[],
  defaulted: boolean,
  types: TypeNames,
  partType: (part: PartPlan) => string,
): string {
  const members = parts.map((part) => {
    const isThere = part.required || (defaulted && part.kind === 'text' && types.hasDefault(part.schema))
    const type = part.kind === 'text' ? types.scalar(part.schema) : partType(part)
    return `${printKey(part.name)}${isThere ? '' : '?'}: ${type}`
  })
  return printType(members, '  ')
}

/** Where openapi-typescript keeps the type of a body without a name. */
export function bodyPlace(id: string, media: MediaType): string {
  return `NonNullable<operations['${id}']['requestBody']>['content']['${media.type}']`
}

export function responsePlace(id: string, status: string, media: MediaType): string {
  return `operations['${id}']['responses'][${status}]['content']['${media.type}']`
}

function emitArms(name: string, operation: Operation, response: Response, types: TypeNames): string[] {
  const headers = emitHeaders(response.headers, types)
  const status = `status: ${response.status}`
  if (response.content.length === 0) return [printType([status, headers], '    ')]
  return response.content.map((media) => {
    // A single type needs no naming.
    const type = `type${response.content.length === 1 ? '?' : ''}: ${emitMediaType(media.type)}`
    return printType(
      [status, type, headers, `body: ${emitResultBody(name, operation, response, media, types)}`],
      '    ',
    )
  })
}

/** The rate of raw audio is a parameter of its type: audio/pcm;rate=24000. */
function emitMediaType(type: string): string {
  return type.startsWith('audio/') ? `${quote(type)} | \`${type};${'${string}'}\`` : quote(type)
}

function emitHeaders(headers: Header[], types: TypeNames): string {
  const asked = headers.filter((header) => !engineHeaders.has(header.name))
  if (asked.length === 0) return ''
  const members = asked.map(
    ({ name, required, schema }) => `${printKey(name)}${required ? '' : '?'}: ${types.scalar(schema)}`,
  )
  return `headers${asked.some((header) => header.required) ? '' : '?'}: ${printType(members, '      ')}`
}

function emitResultBody(
  name: string,
  operation: Operation,
  response: Response,
  media: MediaType,
  types: TypeNames,
): string {
  if (media.type === 'text/event-stream') return `AsyncIterable<${name}Event>`
  if (media.type.startsWith('text/')) return 'string | ByteStream'
  if (media.type !== 'application/json' || media.schema === null) return 'ByteStream'
  return types.schema(media.schema, 'Readable', responsePlace(operation.id, response.status, media))
}
