/**
 * generated/<name>/handlers.ts: what each handler is given and may answer. Faults are thrown, so a response whose body is the
 * error envelope is no result; every other declared status is one arm of a union on {status, type, headers, body}.
 */
import {
  type Header,
  type MediaType,
  type OpenApiDocument,
  type Operation,
  type Parameter,
  pascal,
  type Response,
  type Schema,
} from '../../ir.ts'
import { isEnvelope } from '../../schema.ts'
import { viewsOf } from '../../views.ts'
import { emitBody, emitEventUnion } from './bodies.ts'
import { banner, printKey, printType, quote } from './print.ts'
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
  const types = new TypeNames(viewsOf(document))
  const operations = document.operations.map((operation) => emitOperation(operation, document.schemas, types))
  const usesBytes = operations.some((text) => /\bBytes\b/.test(text))
  const surface = pascal(document.name)
  const members = document.operations.map(({ id, method, path, secured }) => {
    const name = pascal(id)
    const caller = secured ? 'Caller' : 'null'
    return `  /** ${method.toUpperCase()} ${path} */\n  ${id}: Handle<${name}Request, ${name}Result, ${caller}>\n`
  })
  return `${banner('handlers', document.file)}
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
  const arms = results.flatMap((response) => emitArms(name, response, types))
  const place = (where: Parameter['in']) =>
    types.parameters(
      operation.parameters.filter((parameter) => parameter.in === where),
      'received',
    )
  const style = { view: 'received', bytes: 'Bytes', indent: '  ' } as const
  const body = operation.body ? emitBody(operation.body, schemas, types, style) : 'undefined'
  const isOptional = operation.body?.required === false
  return `${emitEventUnion(name, results, types)}export type ${name}Request = {
  path: ${place('path')}
  query: ${place('query')}
  header: ${place('header')}
  body: ${body}${isOptional ? ' | undefined' : ''}
}

export type ${name}Result =
${arms.map((arm) => `  | ${arm}\n`).join('')}`
}

/** A status whose body is the envelope is thrown as a fault; `default` and ranges name no status that could be returned. */
function isResult(response: Response): boolean {
  return /^\d{3}$/.test(response.status) && !response.content.some((media) => isEnvelope(media.schema))
}

function emitArms(name: string, response: Response, types: TypeNames): string[] {
  const headers = emitHeaders(response.headers, types)
  const status = `status: ${response.status}`
  if (response.content.length === 0) return [printType([status, headers], '    ')]
  return response.content.map((media) => {
    // A single type needs no naming.
    const type = `type${response.content.length === 1 ? '?' : ''}: ${emitMediaType(media.type)}`
    return printType([status, type, headers, `body: ${emitResultBody(name, media, types)}`], '    ')
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
    ({ name, required, type }) => `${printKey(name)}${required ? '' : '?'}: ${types.print(type, 'answered')}`,
  )
  return `headers${asked.some((header) => header.required) ? '' : '?'}: ${printType(members, '      ')}`
}

function emitResultBody(name: string, media: MediaType, types: TypeNames): string {
  if (media.type === 'text/event-stream') return `AsyncIterable<${name}Event>`
  if (media.type.startsWith('text/')) return 'string | ByteStream'
  if (media.type !== 'application/json' || media.value === null) return 'ByteStream'
  return types.print(media.value, 'answered', '      ')
}
