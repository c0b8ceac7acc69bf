/**
 * generated/<name>/handlers.ts: what each handler is given and may answer. Faults are thrown, so a response whose body is the
 * error envelope is no result; every other declared status is one arm of a union on {status, type, headers, body}.
 */
import { multipartParts } from './emit-validators.ts'
import type { Header, MediaType, OpenApiDocument, Operation, Parameter, Response, Schema } from './ir.ts'
import { banner, pascal, printKey, printType, quote } from './print.ts'
import { isBinary, resolveSchema } from './schema.ts'
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
import type { ${usesBytes ? 'Bytes, ' : ''}Context, Handlers } from '${runtimePath}/http/handler.ts'
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
  const events = responses.flatMap(({ content }) => content.flatMap((media) => Object.entries(media.events)))
  if (events.length === 0) return ''
  const arms = events.map(([event, component]) => `  | { event: ${quote(event)}; data: ${types.use(component)} }\n`)
  return `export type ${name}Event =\n${arms.join('')}\n`
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
  return emitParts(media, schemas, (part, schema) =>
    isBinary(schema, schemas) ? 'Bytes' : types.schema(schema, 'Writable', `${bodyPlace(id, media)}[${quote(part)}]`),
  )
}

/** The object type of a multipart body, in part order. */
export function emitParts(
  media: MediaType,
  schemas: Record<string, Schema>,
  partType: (part: string, schema: Schema) => string,
): string {
  const target = resolveSchema(schemas, media.schema ?? true)
  const required = (typeof target === 'object' && target.required) || []
  const parts = Object.entries(multipartParts(media, schemas)).map(
    ([part, schema]) => `${printKey(part)}${required.includes(part) ? '' : '?'}: ${partType(part, schema)}`,
  )
  return printType(parts, '  ')
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
    const type = `type${response.content.length === 1 ? '?' : ''}: ${quote(media.type)}`
    return printType(
      [status, type, headers, `body: ${emitResultBody(name, operation, response, media, types)}`],
      '    ',
    )
  })
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
  if (media.type !== 'application/json' || media.schema === null) return 'ByteStream'
  return types.schema(media.schema, 'Readable', responsePlace(operation.id, response.status, media))
}
