/**
 * Emits generated/<name>/handlers.ts: each handler's request and results. Handlers throw faults, so a response with the
 * error body (ErrorEnvelope) is not a result. Every other declared status is one member in a union on {status, type,
 * headers, body}.
 */
import {
  type Header,
  type MediaType,
  type OpenApiDocument,
  type Operation,
  type Parameter,
  pascal,
  type Response,
} from '../../ir.ts'
import { isEnvelope, type Schema } from '../../schema.ts'
import { viewsOf } from '../../views.ts'
import { handlerHeaders } from './answer-headers.ts'
import { emitBody, emitEventUnion } from './bodies.ts'
import { banner, printKey, printType, quote } from './print.ts'
import { TypeNames } from './type-names.ts'

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

/** The request of an operation without parameters and body. */
type EmptyRequest = {
  path: Record<string, never>
  query: Record<string, never>
  header: Record<string, never>
  body: undefined
}

type RequestWith<Parts> = Parts & Omit<EmptyRequest, keyof Parts>

type Handle<Request, Result, Caller> = (request: Request, context: Context<Caller>) => Result | Promise<Result>

${operations.join('\n')}
/** Each operation is one thin function, which throws the errors of the contract. */
export type ${surface}Handlers<Caller> = {
${members.join('')}}

/**
 * The engine calls every handler with Input and Context<unknown>. The validators and the auth hook have run before and
 * made sure that both have the types of the handler. The compiler cannot know that, so this is the one place that
 * widens the types.
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
  return `${emitEventUnion(name, results, types)}export type ${name}Request = ${emitRequest(operation, schemas, types)}

export type ${name}Result =
${arms.map((arm) => `  | ${arm}\n`).join('')}`
}

function emitRequest(operation: Operation, schemas: Record<string, Schema>, types: TypeNames): string {
  const parts = [
    ...(['path', 'query', 'header'] as const).map((where) => emitParameters(operation, where, types)),
    emitRequestBody(operation, schemas, types),
  ].filter((part) => part !== '')
  return parts.length === 0 ? 'EmptyRequest' : `RequestWith<${printType(parts, '')}>`
}

function emitParameters({ parameters }: Operation, place: Parameter['in'], types: TypeNames): string {
  const own = parameters.filter((parameter) => parameter.in === place)
  return own.length === 0 ? '' : `${place}: ${types.parameters(own, 'received')}`
}

function emitRequestBody({ body }: Operation, schemas: Record<string, Schema>, types: TypeNames): string {
  if (!body) return ''
  const type = emitBody(body, schemas, types, { view: 'received', bytes: 'Bytes', indent: '  ' })
  return `body: ${type}${body.required ? '' : ' | undefined'}`
}

/**
 * Returns true if handlers return this response. A response with the error body is thrown as a fault instead. `default`
 * and ranges such as 4XX name no status to return.
 */
function isResult(response: Response): boolean {
  return /^\d{3}$/.test(response.status) && !response.content.some((media) => isEnvelope(media.schema))
}

function emitArms(name: string, response: Response, types: TypeNames): string[] {
  const headers = emitHeaders(response.headers, types)
  const status = `status: ${response.status}`
  if (response.content.length === 0) return [printType([status, headers], '    ')]
  return response.content.map((media) => {
    // With a single media type the result need not name it.
    const type = `type${response.content.length === 1 ? '?' : ''}: ${emitMediaType(media.type)}`
    return printType([status, type, headers, `body: ${emitResultBody(name, media, types)}`], '    ')
  })
}

/** Prints a media type. For raw audio the type has the rate as a parameter: audio/pcm;rate=24000. */
function emitMediaType(type: string): string {
  return type.startsWith('audio/') ? `${quote(type)} | \`${type};${'${string}'}\`` : quote(type)
}

function emitHeaders(headers: Header[], types: TypeNames): string {
  const settable = handlerHeaders(headers)
  if (settable.length === 0) return ''
  const members = settable.map(
    ({ name, required, type }) => `${printKey(name)}${required ? '' : '?'}: ${types.print(type, 'answered')}`,
  )
  return `headers${settable.some((header) => header.required) ? '' : '?'}: ${printType(members, '      ')}`
}

function emitResultBody(name: string, media: MediaType, types: TypeNames): string {
  if (media.type === 'text/event-stream') return `AsyncIterable<${name}Event>`
  if (media.type.startsWith('text/')) return 'string | ByteStream'
  if (media.type !== 'application/json' || media.value === null) return 'ByteStream'
  return types.print(media.value, 'answered', '      ')
}
