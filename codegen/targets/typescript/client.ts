/**
 * Emits <name>.ts of the client's package: the table and types for an API's operations. Package modules without an API
 * come from client-package.ts.
 */
import {
  idempotencyKey,
  isIdempotent,
  type MediaType,
  type OpenApiDocument,
  type Operation,
  pascal,
  type Response,
} from '../../ir.ts'
import { planParts } from '../../parts.ts'
import type { Schema } from '../../schema.ts'
import { clientViewsOf } from '../../views.ts'
import { emitBody, emitEventUnion } from './bodies.ts'
import { commentsBeside } from './client-types.ts'
import { banner, print, printType } from './print.ts'
import { TypeNames } from './type-names.ts'

export function emitClient(document: OpenApiDocument): string {
  const types = new TypeNames(clientViewsOf(document), true)
  const surface = pascal(document.name)
  const typesModule = `./models/${document.name}.ts`
  const calls = document.operations.map((operation) => emitCall(operation, document.schemas, types))
  const rows = Object.fromEntries(
    document.operations.map((operation) => [operation.id, row(operation, document.schemas)]),
  )
  const envelope = envelopeOf(document)
  if (envelope) types.use('ErrorEnvelope')
  return commentsBeside(`${banner('client', document.file)}
import { ApiError } from './api-error.ts'
import type { Answer, CallOptions, ClientOptions, OperationRow } from './call.ts'
import { createClient } from './http.ts'
${types.importFrom(typesModule)}
export { ApiError, ConnectionError, ParleyError, ProtocolError, RequestTimeoutError } from './api-error.ts'
export { StreamTruncatedError } from './events.ts'
export type { CallOptions, ClientOptions } from './call.ts'
export type * from '${typesModule}'

${emitErrorClass(surface, envelope)}
${calls.join('\n')}
export type ${surface}Client = {
${document.operations.map(emitMember).join('')}}

export function create${surface}Client(options: ClientOptions): ${surface}Client {
  // The table and the types above come from the same operations.
  return createClient(operations, options, toError${document.prefix === '' ? '' : `, '${document.prefix}'`}) as unknown as ${surface}Client
}

const operations: Readonly<Record<string, OperationRow>> = ${print(rows)}

function toError(status: number, headers: Headers, body: unknown): Error {
  return new ${surface}ApiError(status, headers, body)
}
`)
}

/**
 * The pieces of code that differ between the APIs' error bodies (envelopes): the fields, and a check that recognizes
 * the body.
 */
type Envelope = { fields: string; test: string; retryableCodes: readonly string[] | null }

function envelopeOf({ schemas, errors }: OpenApiDocument): Envelope | null {
  const { ErrorEnvelope: schema } = schemas
  if (schema === undefined) return null
  const error = typeof schema === 'object' && schema.properties?.['error']
  if (typeof error !== 'object' || error.type !== 'string') return nested
  const codes = Object.entries(errors ?? {}).flatMap(([code, { retryable }]) => (retryable ? [code] : []))
  return { ...inWords, retryableCodes: codes }
}

const nested: Envelope = {
  fields: `const { code, message, hint, retryable, request_id: requestId } = error
  return { code, message: \`\${message} \${hint}\`, retryable, requestId }`,
  test: "typeof body.error === 'object' && body.error !== null",
  retryableCodes: null,
}

/**
 * This error body does not say whether a failure is retryable, so the client has the codes from the contract's table.
 */
const inWords: Envelope = {
  fields: `return { code: code ?? null, message: error, retryable: retryableCodes.has(code ?? ''), requestId }`,
  test: "typeof body.error === 'string'",
  retryableCodes: [],
}

function emitErrorClass(surface: string, envelope: Envelope | null): string {
  const member = envelope ? 'envelope: ErrorEnvelope | null' : 'body: unknown'
  const value = envelope ? 'isEnvelope(body) ? body : null' : 'body'
  return `/** Any answer other than 2xx.${envelope ? ' \`envelope\` is null if something between client and server made the answer.' : ''} */
export class ${surface}ApiError extends ApiError {
  readonly ${member}

  constructor(status: number, headers: Headers, body: unknown) {
    super(status, headers, ${envelope ? 'isEnvelope(body) ? fieldsOf(body) : null' : 'null'})
    this.name = '${surface}ApiError'
    this.${envelope ? 'envelope' : 'body'} = ${value}
  }
}
${envelope ? emitEnvelope(envelope) : ''}`
}

function emitEnvelope({ fields, test, retryableCodes }: Envelope): string {
  const parameter = retryableCodes === null ? '{ error }' : '{ error, code, requestId }'
  return `
function isEnvelope(body: unknown): body is ErrorEnvelope {
  return typeof body === 'object' && body !== null && 'error' in body && ${test}
}

function fieldsOf(${parameter}: ErrorEnvelope) {
  ${fields}
}
${retryableCodes === null ? '' : `\nconst retryableCodes: ReadonlySet<string> = new Set(${print(retryableCodes)})\n`}`
}

function emitMember(operation: Operation): string {
  const name = pascal(operation.id)
  const optional = isOptional(operation) ? '?' : ''
  const deprecated = operation.deprecated ? ' @deprecated' : ''
  return `  /** ${operation.summary}${deprecated} */\n  ${operation.id}(call${optional}: ${name}Call): Promise<${name}Answer>\n`
}

function isOptional({ parameters, body }: Operation): boolean {
  const requiredParameters = parameters.filter(({ name, required }) => required && name !== idempotencyKey)
  return requiredParameters.length === 0 && !body?.required
}

/** Emits one operation's types: arguments, events and responses. */
function emitCall(operation: Operation, schemas: Record<string, Schema>, types: TypeNames): string {
  const name = pascal(operation.id)
  const successes = operation.responses.filter((response) => response.status.startsWith('2'))
  const answers = [...new Set(successes.flatMap((response) => emitAnswers(operation, response, types)))]
  const members = [
    ...emitParameters(operation, types),
    ...emitCallBody(operation, schemas, types),
    ...(isIdempotent(operation) ? ['idempotencyKey?: string'] : []),
  ]
  const call = members.length > 0 ? `CallOptions & ${printType(members, '')}` : 'CallOptions'
  const union = answers.length === 1 ? ` ${answers.join('')}` : answers.map((answer) => `\n  | ${answer}`).join('')
  return `${emitNamedEvents(name, successes, types)}export type ${name}Call = ${call}
export type ${name}Answer =${union}
`
}

/** Emits the event union, or '' if the frames have no names: then they have one payload type. */
function emitNamedEvents(name: string, responses: Response[], types: TypeNames): string {
  const isNamed = responses.some(({ content }) => content.some((media) => Object.keys(media.events).length > 0))
  return isNamed ? emitEventUnion(name, responses, types) : ''
}

function emitParameters(operation: Operation, types: TypeNames): string[] {
  return (['path', 'query', 'header'] as const).flatMap((where) => {
    const own = operation.parameters.filter(({ in: place, name }) => place === where && name !== idempotencyKey)
    if (own.length === 0) return []
    const optional = own.some((parameter) => parameter.required) ? '' : '?'
    return [`${where}${optional}: ${types.parameters(own, 'sent')}`]
  })
}

function emitCallBody({ body }: Operation, schemas: Record<string, Schema>, types: TypeNames): string[] {
  if (!body) return []
  const isForm = body.content.some((media) => media.type === 'multipart/form-data')
  const bytes = isForm ? 'Blob | Uint8Array' : 'Blob | Uint8Array | ReadableStream<Uint8Array>'
  const type = emitBody(body, schemas, types, { view: 'sent', bytes, indent: '  ' })
  return [`body${body.required ? '' : '?'}: ${type}`]
}

function emitAnswers({ id }: Operation, { content }: Response, types: TypeNames): string[] {
  if (content.length === 0) return ["Answer<'', null>"]
  return content.map((media) => {
    const kind = answerKind(media)
    if (kind === 'events') return `Answer<'${media.type}', AsyncIterable<${pascal(id)}Event>>`
    if (kind === 'data')
      return `Answer<'${media.type}', AsyncIterable<${types.component(media.eventData ?? '', 'answered')}>>`
    if (kind === 'text') return `Answer<'${media.type}', string>`
    if (kind === 'bytes' || media.value === null) return `Answer<'${media.type}', ReadableStream<Uint8Array>>`
    return `Answer<'${media.type}', ${types.print(media.value, 'answered')}>`
  })
}

function row(operation: Operation, schemas: Record<string, Schema>) {
  const content = operation.responses
    .filter(({ status }) => status.startsWith('2'))
    .flatMap((response) => response.content)
  const multipart = operation.body?.content.find((media) => media.type === 'multipart/form-data')
  const parts = multipart ? planParts(multipart, schemas) : []
  const body = bodyKind(operation, multipart)
  const headers = headersOf(operation)
  const terminalEvents = content.flatMap((media) => media.terminalEvents)
  const eventIdentity = content.find((media) => media.eventIdentity !== null)?.eventIdentity
  const isJson = content.length > 0 && content.every(({ type }) => type === 'application/json')
  return {
    method: operation.method.toUpperCase(),
    path: operation.path,
    ...(!isJson && { answers: Object.fromEntries(content.map((media) => [media.type, answerKind(media)])) }),
    ...(!operation.secured && { isOpen: true }),
    ...(isIdempotent(operation) && { isIdempotent: true }),
    ...(body !== null && { body }),
    ...(parts.length > 0 && { parts: parts.map(({ name, kind }) => ({ name, kind })) }),
    ...(headers.length > 0 && { headers }),
    ...(terminalEvents.length > 0 && { terminalEvents }),
    ...(eventIdentity && { eventIdentity }),
  }
}

/** A client passes header parameters by their names in lower case. */
function headersOf({ parameters }: Operation): { name: string; isJson: boolean }[] {
  return parameters
    .filter(({ in: place, name }) => place === 'header' && name !== idempotencyKey)
    .map(({ name, content }) => ({ name, isJson: content?.type === 'application/json' }))
}

function bodyKind({ body }: Operation, multipart: MediaType | undefined): 'json' | 'multipart' | 'bytes' | null {
  if (!body) return null
  if (multipart) return 'multipart'
  return body.content.some((media) => media.type === 'application/json') ? 'json' : 'bytes'
}

function answerKind({ type, eventData }: MediaType): 'json' | 'events' | 'data' | 'text' | 'bytes' {
  if (type === 'application/json') return 'json'
  if (type === 'text/event-stream') return eventData === null ? 'events' : 'data'
  return type.startsWith('text/') ? 'text' : 'bytes'
}
